import { type AccessTokens, TokenRefused } from './access-tokens.js'
import type { ApiKeys } from './api-keys.js'

/** Finds the user of a request from its bearer token. @returns id of the user @throws TokenRefused */
export type Authenticator = (token: string) => Promise<string>

/** Checks tokens of the own provider of the service: valid as long as the key, with the secret that obtained them. */
export function ownAuthenticator(tokens: AccessTokens, keys: ApiKeys): Authenticator {
  return async (token) => {
    const { clientId, userId, secretMs } = await tokens.verify(token)
    const key = await keys.active(clientId)
    if (key?.userId !== userId || key.createdMs !== secretMs)
      throw new TokenRefused('token', 'The API key of this token is revoked or expired.')
    return userId
  }
}
