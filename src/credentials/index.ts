export { type Credentials, openCredentials, type Signed } from './credentials.js'
export type { SignedFacts } from './manifest.js'
export { type CredentialsFound, readCredentials } from './read-credentials.js'
