import { silentLogger } from '../../core/logger.js'
import type { PostgresAddress } from './postgres-address.js'
import { PostgresServer } from './postgres-server.js'

const PATIENCE_MS = 3000

/** Every role may read this. Details of other sessions would need more rights. */
const STATE = `
SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
  current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
  current_setting('synchronous_commit') AS sync, current_setting('synchronous_standby_names') AS standbys,
  pg_is_in_recovery() AS replica, current_setting('default_transaction_read_only') AS locked,
  to_regclass('ledger_versions') IS NOT NULL AS tables,
  coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates, (SELECT count(*) FROM pg_stat_replication) AS replicas,
  (SELECT sum(numbackends) FROM pg_stat_database) AS used,
  current_setting('max_connections') AS most, current_setting('superuser_reserved_connections') AS reserved,
  CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now,
  pg_database_size(current_database()) AS bytes, current_setting('autovacuum') AS vacuum,
  (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS super,
  (SELECT coalesce(sum(n_live_tup), 0) FROM pg_stat_user_tables WHERE schemaname = current_schema()) AS live,
  (SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables WHERE schemaname = current_schema()) AS dead`

const TABLES = 'SELECT max(version) AS version FROM ledger_versions'

/** The settings and the state of a PostgreSQL server, as far as they concern a store. */
export type SharedStoreReport = Awaited<ReturnType<typeof inspectPostgres>>

/** Reads the settings and the state of a server. `inspectSharedStore` loads this file on demand. @param newest version of the tables */
export async function inspectPostgres(address: PostgresAddress, newest: number) {
  const server = new PostgresServer(address, silentLogger)
  try {
    return await server.patiently(PATIENCE_MS, async (client) => {
      await server.query(client, 'SELECT 1', [])
      const beganMs = Date.now()
      const row = (await server.query(client, STATE, [])).rows[0] ?? {}
      const hereMs = (beganMs + Date.now()) / 2
      const [tables] = row.tables === 1 ? (await server.query(client, TABLES, [])).rows : []
      return {
        version: String(row.version).replace(/ .*/, ''),
        major: Math.floor(Number(row.number) / 10_000),
        isReplica: row.replica === 1,
        // Some hosts set this when the disk is full.
        isReadOnly: row.locked === 'on',
        canHaveTables: row.tables === 1 || row.creates === 1,
        isNewer: Number(tables?.version ?? 0) > newest,
        // Otherwise a power loss can damage the database.
        syncsDisk: row.fsync === 'on' && row.pages === 'on',
        synchronousCommit: String(row.sync),
        // A commit waits for these replicas.
        synchronousStandbys: String(row.standbys),
        replicas: Number(row.replicas),
        connections: Number(row.used),
        maxConnections: Number(row.most) - Number(row.reserved),
        clockAheadMs: Number(row.now) - hereMs,
        usedBytes: Number(row.bytes),
        isVacuumed: row.vacuum === 'on',
        liveRows: Number(row.live),
        // They were changed or deleted, and their space is not free yet.
        deadRows: Number(row.dead),
        isSuperuser: row.super === 1,
      }
    })
  } finally {
    await server.close()
  }
}
