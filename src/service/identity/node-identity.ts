import type { ServiceSettings } from '../service-settings.js'
import { readIdentity, type ServiceIdentity, type ServiceStore } from '../store/service-store.js'
import { AccessTokens } from './access-tokens.js'
import { ApiKeys } from './api-keys.js'
import { type Authenticator, ownAuthenticator } from './authenticator.js'
import { outsideTokens } from './outside-tokens.js'
import { SigningKeys } from './signing-keys.js'

/** Tells programs apart, and issues their tokens. */
export interface IdentityProvider {
  readonly identity: ServiceIdentity
  readonly apiKeys: ApiKeys
  readonly signingKeys: SigningKeys
  readonly tokens: AccessTokens
}

/** Opens the identity that all nodes of a store share, with the check of the tokens that the API accepts. */
export async function openNodeIdentity(
  store: ServiceStore,
  { outside, keyRotationSec }: ServiceSettings['identity'],
): Promise<IdentityProvider & { readonly authenticator: Authenticator }> {
  const identity = await readIdentity(store)
  const apiKeys = new ApiKeys(store.keys)
  const signingKeys = new SigningKeys(store.signingKeys, keyRotationSec * 1000)
  const tokens = new AccessTokens(identity, signingKeys)
  const verify = outside && outsideTokens(outside)
  const authenticator: Authenticator = verify
    ? async (token) => (await store.accounts.ensureSubject(await verify(token))).id
    : ownAuthenticator(tokens, apiKeys)
  return { identity, apiKeys, signingKeys, tokens, authenticator }
}
