/** One attempt to deliver an event, as an operator reads it. */
export interface DeliveryLogEntry {
  readonly atMs: number
  readonly fileId: string
  readonly type: string
  readonly status: string
  readonly attempt: number
  readonly method: string
  /** Without its query. */
  readonly url: string
  readonly outcome: 'delivered' | 'failed' | 'given-up'
  /** Answer's status or the reason of the failure. */
  readonly detail: string
}

/** What became of the webhooks: an entry for each attempt. */
export interface DeliveryLog {
  /** The latest entries, newest first. */
  latest(limit: number): Promise<DeliveryLogEntry[]>
  /** Forgets what is so old. */
  forgetOld(forMs: number): Promise<void>
}
