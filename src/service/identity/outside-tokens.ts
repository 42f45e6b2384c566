import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import { TransientError } from '../../core/errors.js'
import type { OutsideIdentity } from '../service-settings.js'
import { TokenRefused, tokenFault } from './access-tokens.js'

/** How far the clock of the provider may differ. */
const CLOCK_TOLERANCE_SEC = 60

/**
 * Checks the tokens of an external identity provider: issuer, audience, signature, expiry, scope.
 *
 * @returns reads issuer and subject of a token; for tokens issued to programs, the subject is the client. It throws
 *   {@link TokenRefused}, or TransientError `ERR_IDENTITY_UNREACHABLE` when the provider's keys cannot be loaded
 */
export function outsideTokens({
  issuer,
  audience,
  jwksUrl,
  scope,
}: OutsideIdentity): (token: string) => Promise<string> {
  const keySet = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 5000, cooldownDuration: 5000 })
  // Asymmetric algorithms only: with an HMAC, the published key could sign tokens.
  const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

  async function signed(token: string): Promise<JWTPayload> {
    try {
      const wanted = { issuer, audience, algorithms, requiredClaims: ['exp'], clockTolerance: CLOCK_TOLERANCE_SEC }
      return (await jwtVerify(token, keySet, wanted)).payload
    } catch (error) {
      const refused = error instanceof errors.JOSEError && !unreachable(error)
      if (refused) throw new TokenRefused('token', tokenFault(error))
      throw new TransientError('ERR_IDENTITY_UNREACHABLE', 'The identity provider does not respond.', { cause: error })
    }
  }

  return async (token) => {
    const payload = await signed(token)
    if (scope && !grants(payload).has(scope))
      throw new TokenRefused('scope', 'The token lacks the scope of this service.')
    const subject = payload.sub ?? payload.azp ?? payload.client_id
    if (typeof subject !== 'string') throw new TokenRefused('token', 'The token names no subject.')
    return `${payload.iss} ${subject}`
  }
}

/** True if the key set could not be loaded. Such an error is not a fault of the token. */
function unreachable(error: errors.JOSEError): boolean {
  return error instanceof errors.JWKSTimeout || error.code === 'ERR_JOSE_GENERIC'
}

/** Scopes and roles in all claims that providers use. */
function grants(payload: JWTPayload): Set<string> {
  const claims = [payload.scope, payload.scp, payload.roles].flat()
  return new Set(claims.flatMap((claim) => (typeof claim === 'string' ? claim.split(' ') : [])))
}
