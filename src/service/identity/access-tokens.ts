import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { LIMITS } from '../../contract/index.js'
import { TransientError } from '../../core/errors.js'
import type { ApiKey } from '../store/key-records.js'
import type { ServiceIdentity } from '../store/service-store.js'
import type { SigningKeys } from './signing-keys.js'

/** Claim with the creation time of the key's secret. `iat` counts seconds, perhaps on another node's clock. */
const SECRET_TIME_CLAIM = 'secret_ms'

/** A token is valid some minutes before its issue: the clock of another node may be behind. */
const NOT_BEFORE = '5 minutes ago'

/** A refused token. The fault `scope` gets a 403, all others a 401. */
export class TokenRefused extends Error {
  constructor(
    readonly fault: 'token' | 'scope',
    message: string,
  ) {
    super(message)
  }
}

/** Issues and checks the service's own access tokens (RS256 JWTs). */
export class AccessTokens {
  readonly #identity: ServiceIdentity
  readonly #keys: SigningKeys

  constructor(identity: ServiceIdentity, keys: SigningKeys) {
    this.#identity = identity
    this.#keys = keys
  }

  /** @param issuer the node's own: `{auth_url}/{tenant}/v2.0` */
  async issue(key: ApiKey, issuer: string): Promise<string> {
    const { kid, privateKey } = await this.#keys.current()
    const { tenantId, scope } = this.#identity
    const claims = { tid: tenantId, azp: key.clientId, scp: scope, ver: '2.0', [SECRET_TIME_CLAIM]: key.createdMs }
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
      .setIssuer(issuer)
      .setAudience(this.#identity.audience)
      .setSubject(key.userId)
      .setIssuedAt()
      .setNotBefore(NOT_BEFORE)
      .setJti(crypto.randomUUID())
      .setExpirationTime(`${LIMITS.accessTokenLifetimeSec} s`)
      .sign(privateKey)
  }

  /**
   * @returns the key that the token was issued to, that key's user, and `secretMs`: {@link ApiKey.createdMs} when the
   * token was requested
   * @throws TokenRefused
   */
  async verify(token: string) {
    const payload = await this.#signed(token)
    // Any node of this folder may have issued it, on any port. Nodes share only the tenant.
    const ours = payload.iss?.endsWith(`/${this.#identity.tenantId}/v2.0`) && payload.tid === this.#identity.tenantId
    if (!ours) throw new TokenRefused('token', 'The token was issued for another tenant.')
    if (typeof payload.azp !== 'string' || !payload.sub) throw new TokenRefused('token', 'The token names no client.')
    const secretMs = payload[SECRET_TIME_CLAIM]
    if (typeof secretMs !== 'number')
      throw new TokenRefused('token', 'The token is from an earlier version of the service. Request a new one.')
    if (payload.scp !== this.#identity.scope)
      throw new TokenRefused('scope', 'The token lacks the scope of this service.')
    return { clientId: payload.azp, userId: payload.sub, secretMs }
  }

  async #signed(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, this.#keys.keyOf, {
        algorithms: ['RS256'],
        audience: this.#identity.audience,
        requiredClaims: ['exp', 'iss', 'sub'],
      })
      return payload
    } catch (error) {
      // An unreachable store is not a fault of the token.
      if (error instanceof TransientError) throw error
      throw new TokenRefused('token', tokenFault(error))
    }
  }
}

/** Why a token was refused. Helps its owner and reveals nothing to others. */
export function tokenFault(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.'
  if (error instanceof errors.JWTClaimValidationFailed) return `The token's claim ${error.claim} is not accepted.`
  return 'The token is not valid.'
}
