import type { JWK } from 'jose'

/** A signing key as it is stored; its times are Unix milliseconds. */
export interface StoredKey {
  readonly kid: string
  /** The private half. */
  readonly jwk: JWK
  readonly createdMs: number
}

/** The signing keys that all nodes of a service share. */
export interface SigningKeyRecords {
  /** Newest first. */
  all(): Promise<StoredKey[]>
  /**
   * Adds a key, unless another node was faster; and forgets those that have not been the newest for so long.
   *
   * @param insteadOf only if this one is still the newest; undefined: only if there is none
   * @returns the newest
   */
  add(key: Omit<StoredKey, 'createdMs'>, insteadOf: string | undefined, forgetMs: number): Promise<StoredKey>
}
