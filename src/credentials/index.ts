export { type Credentials, openCredentials, SPOOLED_BYTES } from './credentials.js'
export type { SignedFacts } from './manifest.js'
export { type CredentialsFound, readCredentials } from './read-credentials.js'
