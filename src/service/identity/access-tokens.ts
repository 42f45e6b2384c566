import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { LIMITS } from '../../contract/index.js'
import { TransientError } from '../../core/errors.js'
import type { ApiKey } from '../store/key-records.js'
import type { ServiceIdentity } from '../store/service-store.js'
import type { SigningKeys } from './signing-keys.js'

/** Who a token stands for: the key it was issued to and that key's user. */
export interface TokenSubject {
  readonly clientId: string
  readonly userId: string
}

/** A token that was refused; `scope` is the one fault that answers 403, all others answer 401. */
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
  constructor(
    private readonly identity: ServiceIdentity,
    private readonly keys: SigningKeys,
  ) {}

  /** @param issuer the node's own: `{auth_url}/{tenant}/v2.0` */
  async issue(key: ApiKey, issuer: string): Promise<string> {
    const { kid, privateKey } = await this.keys.current()
    return new SignJWT({ tid: this.identity.tenantId, azp: key.clientId, scp: this.identity.scope, ver: '2.0' })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
      .setIssuer(issuer)
      .setAudience(this.identity.audience)
      .setSubject(key.userId)
      .setIssuedAt()
      .setNotBefore('0 s')
      .setJti(crypto.randomUUID())
      .setExpirationTime(`${LIMITS.accessTokenLifetimeSec} s`)
      .sign(privateKey)
  }

  /** @throws TokenRefused */
  async verify(token: string): Promise<TokenSubject> {
    const payload = await this.signed(token)
    // Any node of this folder may have issued it, on whatever port: the tenant is what they share.
    const ours = payload.iss?.endsWith(`/${this.identity.tenantId}/v2.0`) && payload.tid === this.identity.tenantId
    if (!ours) throw new TokenRefused('token', 'The token was issued for another tenant.')
    if (typeof payload.azp !== 'string' || !payload.sub) throw new TokenRefused('token', 'The token names no client.')
    if (payload.scp !== this.identity.scope)
      throw new TokenRefused('scope', 'The token lacks the scope of this service.')
    return { clientId: payload.azp, userId: payload.sub }
  }

  private async signed(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, this.keys.keyOf, {
        algorithms: ['RS256'],
        audience: this.identity.audience,
        requiredClaims: ['exp', 'iss', 'sub'],
      })
      return payload
    } catch (error) {
      // The store is away: that says nothing of the token.
      if (error instanceof TransientError) throw error
      throw new TokenRefused('token', tokenFault(error))
    }
  }
}

/** Why a token was refused, in words that help its owner and tell a stranger nothing. */
export function tokenFault(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.'
  if (error instanceof errors.JWTClaimValidationFailed) return `The token's claim ${error.claim} is not accepted.`
  return 'The token is not valid.'
}
