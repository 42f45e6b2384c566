/** How a shared store keeps what it acknowledges. */
export interface SharedStoreReport {
  readonly version: string
  /** Whether each write goes to a log on disk. */
  readonly isAppendOnly: boolean
  /** When that log is synced: `always`, `everysec`, `no`; null where the server does not tell. */
  readonly appendSync: string | null
  /** What becomes of keys when memory is full; only `noeviction` throws none away. */
  readonly evictionPolicy: string
  readonly usedBytes: number
  /** Null: no limit. */
  readonly maxBytes: number | null
  /** That are connected now. */
  readonly replicas: number
  /** With fewer than these the server refuses writes; null where it does not tell. */
  readonly requiredReplicas: number | null
  /** So many are waited for at each write, as the address says. */
  readonly awaitedReplicas: number
}
