export { type Credentials, openCredentials } from './credentials.js'
export type { SignedFacts } from './manifest.js'
export { type CredentialsFound, readCredentials } from './read-credentials.js'
