/** One attempt to deliver an event, for operators. */
export interface DeliveryLogEntry {
  readonly id: number
  readonly atMs: number
  readonly fileId: string
  readonly type: string
  readonly status: string
  readonly attempt: number
  readonly method: string
  /** Without its query. */
  readonly url: string
  readonly outcome: 'delivered' | 'failed' | 'given-up'
  /** Status of the response, or the reason of the failure. */
  readonly detail: string
}

/** Log of the webhooks, with an entry for each attempt. */
export interface DeliveryLog {
  /** The latest entries, newest first. */
  latest(limit: number): Promise<DeliveryLogEntry[]>
  /** Deletes entries older than this. */
  forgetOld(forMs: number): Promise<void>
}
