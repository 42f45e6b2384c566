/** An API key without its secret. Times are Unix milliseconds. */
export interface ApiKey {
  readonly clientId: string
  readonly userId: string
  readonly name: string
  readonly createdMs: number
  readonly expiresMs: number
  readonly revokedMs: number | null
}

/** An API key as it is stored. */
export interface KeyRecord extends ApiKey {
  readonly secretHash: string
  /** False for a key of a process, which lists do not show. */
  readonly isLasting: boolean
}

/** The fields of a key that may change. */
export type KeyChange = Partial<Pick<KeyRecord, 'secretHash' | 'createdMs' | 'expiresMs' | 'revokedMs'>>

/** The stored API keys; `ApiKeys` implements their rules. */
export interface KeyRecords {
  add(key: KeyRecord): Promise<void>
  /** Adds a key, or updates the expiry of an existing one. @returns the stored key */
  put(key: KeyRecord): Promise<KeyRecord>
  /**
   * Adds a key, unless its user has a lasting one that is valid when this one begins.
   *
   * @returns the newest valid key
   */
  addUnlessGood(key: KeyRecord): Promise<KeyRecord>
  get(clientId: string): Promise<KeyRecord | undefined>
  /** Lasting keys, oldest first. */
  list(): Promise<KeyRecord[]>
  /** Changes a key. Does nothing if it does not exist. */
  change(clientId: string, change: KeyChange): Promise<void>
  forget(clientId: string): Promise<void>
  /** Removes keys that expired longer ago than this. */
  forgetExpired(forMs: number): Promise<void>
}
