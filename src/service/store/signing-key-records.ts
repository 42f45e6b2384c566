import type { JsonWebKey, webcrypto } from 'node:crypto'

/** A private key and the id of its published public key. */
export interface SigningKey {
  readonly kid: string
  readonly privateKey: webcrypto.CryptoKey
}

/** A stored signing key. Times are Unix milliseconds. */
export interface StoredKey {
  readonly kid: string
  /** The private key. */
  readonly jwk: JsonWebKey
  readonly createdMs: number
}

/** The signing keys that all nodes of a service share. */
export interface SigningKeyRecords {
  /** Newest first. */
  all(): Promise<StoredKey[]>
  /**
   * Adds a key, unless another node was faster. Deletes keys that have not been the newest for `forgetMs`.
   *
   * @param insteadOf only if this key is still the newest; undefined: only if no key exists
   * @returns the newest key
   */
  add(key: Omit<StoredKey, 'createdMs'>, insteadOf: string | undefined, forgetMs: number): Promise<StoredKey>
}
