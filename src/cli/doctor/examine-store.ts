import type { Config } from '../../config/index.js'
import { type ErrorCode, UsageError } from '../../core/errors.js'
import { docsPage } from '../../core/package-folder.js'
import { inspectSharedStore, newerDatabase, type SharedStoreReport } from '../../ledger/index.js'
import { describeBytes } from '../../precheck/index.js'
import { type Finding, fault, finding, fine, remark } from './finding.js'

const OLDEST_VERSION = 13
const NEWEST_VERSION = 18
/** Above this share of its connections, a few more processes find none. */
const NEARLY_ALL = 0.8
/** voxmux takes the time of the server, but files and logs have that of the machine. */
const CLOCK_APART_MS = 2000
/** More dead rows than this and than live ones are bloat. */
const FEW_ROWS = 10_000

/** Checks that the shared store is reachable, supported, and durable for every acknowledged write. */
export async function examineStore({ store }: Pick<Config, 'store'>): Promise<readonly Finding[]> {
  if (store === null) return []
  let report: SharedStoreReport | undefined
  const reached = await finding('store', async () => {
    report = await inspectSharedStore(store)
    const { version, usedBytes, replicas } = report
    return `PostgreSQL ${version}, ${describeBytes(usedBytes)}, ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`
  })
  if (!report) return [reached]
  return [
    reached,
    ...version(report),
    ...rights(report),
    durability(report),
    ...copies(report),
    connections(report),
    ...others(report),
  ]
}

function refused(check: string, code: ErrorCode, message: string, remedy: string): Finding {
  return fault(check, new UsageError(code, message, { remedies: [remedy] }))
}

function version({ version, major, isReplica, isNewer }: SharedStoreReport): readonly Finding[] {
  const supported = `PostgreSQL ${OLDEST_VERSION} to ${NEWEST_VERSION}`
  const tooOld = `PostgreSQL ${version} is too old for voxmux.`
  const replica = 'This server is a replica, so it accepts no writes.'
  const primary = 'Name the primary server, or all servers: postgres://one,other/database.'
  if (major < OLDEST_VERSION) return [refused('store version', 'ERR_STORE_VERSION', tooOld, `Use ${supported}.`)]
  if (isReplica) return [refused('store version', 'ERR_STORE_READ_ONLY', replica, primary)]
  if (isNewer) return [fault('store version', newerDatabase('The job store'))]
  if (major <= NEWEST_VERSION) return []
  return [remark('store version', `voxmux was tested with ${supported}, and this is ${version}`)]
}

function rights({ isReadOnly, canHaveTables }: SharedStoreReport): readonly Finding[] {
  const readOnly = 'The user or the database is set to read-only.'
  const off = 'Set `default_transaction_read_only = off`. Some hosts set it to on when the disk is full.'
  const noTables = 'The store has no tables, and its user may not create them.'
  const schema = `Give the user a schema of its own: see ${docsPage('scale-out.md')}.`
  if (isReadOnly) return [refused('store role', 'ERR_STORE_READ_ONLY', readOnly, off)]
  return canHaveTables ? [] : [refused('store role', 'ERR_STORE_REFUSED', noTables, schema)]
}

function durability({ syncsDisk, synchronousCommit }: SharedStoreReport): Finding {
  const lost = (message: string, remedy: string) => refused('store on disk', 'ERR_STORE_NOT_DURABLE', message, remedy)
  if (!syncsDisk)
    return lost(
      'A power loss can destroy the database, because fsync or full_page_writes is off.',
      'Set `fsync = on` and `full_page_writes = on`.',
    )
  if (synchronousCommit === 'off')
    return lost(
      'A crash can lose acknowledged jobs, payments and keys, because synchronous_commit is off.',
      'Set `synchronous_commit = on`, or for voxmux alone: ALTER ROLE … SET synchronous_commit = on.',
    )
  return fine('store on disk', 'every write is on disk before it is acknowledged')
}

/** Reports what a failover could lose. Empty for a server without replicas. */
function copies({ replicas, synchronousStandbys, synchronousCommit }: SharedStoreReport): readonly Finding[] {
  const check = 'store copies'
  const isWaiting = synchronousStandbys !== '' && !['off', 'local'].includes(synchronousCommit)
  const noReplica = 'Writes wait for a replica, and none is connected.'
  const start = 'Start the replica, or empty `synchronous_standby_names`.'
  if (isWaiting && replicas === 0) return [refused(check, 'ERR_STORE_COPIES', noReplica, start)]
  if (isWaiting) return [fine(check, 'each write reaches a replica before it counts as done')]
  if (replicas === 0) return []
  return [
    remark(check, 'a failover can lose writes that the replicas do not have yet', [
      "Set `synchronous_standby_names = 'ANY 1 (*)'` to lose nothing. Use two replicas, so that you can lose one.",
    ]),
  ]
}

function connections({ connections, maxConnections }: SharedStoreReport): Finding {
  const used = `${connections} of ${maxConnections} in use`
  if (connections < NEARLY_ALL * maxConnections) return fine('store connections', used)
  return remark('store connections', `${used}; a process of voxmux takes up to 4`, [
    'Raise `max_connections`, or use PgBouncer between voxmux and the server.',
  ])
}

function others({ clockAheadMs, isVacuumed, deadRows, liveRows, isSuperuser }: SharedStoreReport): readonly Finding[] {
  const apartSec = Math.round(Math.abs(clockAheadMs) / 1000)
  const direction = clockAheadMs > 0 ? 'ahead of' : 'behind'
  const clock = `the clock of the server is ${apartSec} s ${direction} this machine's, and leases use the server's`
  const bloat = `${deadRows} dead rows beside ${liveRows} live ones slow every claim`
  const superuser = `voxmux logs in as a superuser, and needs only a role with its own tables: see ${docsPage('scale-out.md')}`
  return [
    ...(Math.abs(clockAheadMs) > CLOCK_APART_MS ? [remark('store clock', clock, ['Run NTP on both.'])] : []),
    ...(isVacuumed ? [] : [remark('store bloat', 'autovacuum is off, so the tables grow', ['Set `autovacuum = on`.'])]),
    ...(deadRows > Math.max(FEW_ROWS, liveRows) ? [remark('store bloat', bloat, ['Run VACUUM ANALYZE.'])] : []),
    ...(isSuperuser ? [remark('store role', superuser)] : []),
  ]
}
