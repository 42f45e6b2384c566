/** The settings and the state of a PostgreSQL server, as far as they concern a store. */
export interface SharedStoreReport {
  /** Such as `15.18`. */
  readonly version: string
  /** Such as 15. */
  readonly major: number
  /** True if it follows another server and accepts no writes. */
  readonly isReplica: boolean
  /** True if the role or the database is set to accept no writes, as some hosts do when the disk is full. */
  readonly isReadOnly: boolean
  /** False if the store has no tables yet, and the role may not create them. */
  readonly canHaveTables: boolean
  /** True if a newer voxmux has written the tables. */
  readonly isNewer: boolean
  /** False if a power loss can damage the database (`fsync` or `full_page_writes` is off). */
  readonly syncsDisk: boolean
  /** `on`, `off`, `local`, `remote_write` or `remote_apply`. */
  readonly synchronousCommit: string
  /** `synchronous_standby_names`: replicas for which a commit waits. Empty: none. */
  readonly synchronousStandbys: string
  /** Replicas that are connected now. */
  readonly replicas: number
  readonly connections: number
  /** Without those that are reserved for superusers. */
  readonly maxConnections: number
  /** The server's clock minus this machine's. */
  readonly clockAheadMs: number
  readonly usedBytes: number
  /** True if `autovacuum` is on. */
  readonly isVacuumed: boolean
  /** Rows of the store's tables, by the server's estimate. */
  readonly liveRows: number
  /** Rows that were changed or deleted and whose space is not free yet. */
  readonly deadRows: number
  readonly isSuperuser: boolean
}
