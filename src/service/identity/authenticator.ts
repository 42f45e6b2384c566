import type { Accounts } from '../store/accounts.js'
import { type AccessTokens, TokenRefused } from './access-tokens.js'
import type { ApiKeys } from './api-keys.js'
import type { OutsideTokens } from './outside-tokens.js'

/** Tells whose request it is, from its bearer token. */
export interface Authenticator {
  /**
   * @returns id of the user
   * @throws TokenRefused
   */
  userOf(token: string): Promise<string>
}

/** Tokens of the service's own: good as long as their key is. */
export function ownAuthenticator(tokens: AccessTokens, keys: ApiKeys): Authenticator {
  return {
    async userOf(token) {
      const { clientId, userId } = await tokens.verify(token)
      const key = await keys.active(clientId)
      if (key?.userId !== userId) throw new TokenRefused('token', 'The API key of this token is revoked or expired.')
      return userId
    },
  }
}

/** Tokens of an outside identity provider: each subject is a user of its own. */
export function outsideAuthenticator(tokens: OutsideTokens, accounts: Accounts): Authenticator {
  return {
    async userOf(token) {
      return (await accounts.ensureSubject(await tokens.verify(token))).id
    },
  }
}
