/** How durably a shared store keeps acknowledged writes. */
export interface SharedStoreReport {
  readonly version: string
  /** True if each write goes to a log on disk. */
  readonly isAppendOnly: boolean
  /** When that log is synced: `always`, `everysec`, `no`; null if the server does not report it. */
  readonly appendSync: string | null
  /** Policy for keys when the memory is full. Only `noeviction` deletes none. */
  readonly evictionPolicy: string
  readonly usedBytes: number
  /** Null: no limit. */
  readonly maxBytes: number | null
  /** Replicas that are connected now. */
  readonly replicas: number
  /** With fewer replicas the server refuses writes; null if it does not report the number. */
  readonly requiredReplicas: number | null
  /** Replicas that each write waits for, according to the address. */
  readonly awaitedReplicas: number
}
