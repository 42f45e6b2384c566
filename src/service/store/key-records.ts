/** An API key as it may be shown: everything but the secret. Times are Unix milliseconds. */
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
  /** False for a process's own, which people do not see. */
  readonly isLasting: boolean
}

/** What of a key may change. */
export type KeyChange = Partial<Pick<KeyRecord, 'secretHash' | 'createdMs' | 'expiresMs' | 'revokedMs'>>

/** The API keys as records: what they mean is told by `ApiKeys`. */
export interface KeyRecords {
  add(key: KeyRecord): Promise<void>
  /**
   * Adds a key, unless its user has a lasting one that is good when this one begins.
   *
   * @returns the newest that is good then
   */
  addUnlessGood(key: KeyRecord): Promise<KeyRecord>
  get(clientId: string): Promise<KeyRecord | undefined>
  /** The lasting ones, oldest first. */
  list(): Promise<KeyRecord[]>
  /** A key that is not there stays so. */
  change(clientId: string, change: KeyChange): Promise<void>
  forget(clientId: string): Promise<void>
  /** Removes what ended so long ago. */
  forgetExpired(forMs: number): Promise<void>
}
