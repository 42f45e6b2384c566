import { createHash } from 'node:crypto'
import { type Logger, silentLogger } from '../../core/logger.js'
import type { Database, Migration, Statements, Transaction } from './database.js'
import { newerDatabase } from './database-errors.js'
import type { PostgresAddress } from './postgres-address.js'
import { isLost } from './postgres-errors.js'
import { NOTIFY, PostgresNews } from './postgres-news.js'
import { type Client, PostgresServer } from './postgres-server.js'
import { POSTGRES, postgresScripts, translator } from './postgres-sql.js'

export interface PostgresOptions {
  /** Begins the names of all tables, so that several stores fit into one schema. */
  readonly prefix: string
  /** How long a call waits for a server that is away or full; default ten minutes. */
  readonly patienceMs?: number | undefined
  /** Unix milliseconds, for tests; default: the clock of the server. */
  readonly now?: (() => number) | undefined
  readonly logger?: Logger | undefined
}

const PATIENCE_MS = 600_000
/** The first connection answers soon, or the address is wrong. */
const OPEN_MS = 20_000

const TIMELINE = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'
/**
 * A frozen process holds its locks for ten seconds. Every statement follows an index. Without statistics, the server
 * would sort all jobs of a group to find the first.
 */
const SETTINGS = {
  ...{ idle_in_transaction_session_timeout: '10s', lock_timeout: '10s' },
  ...{ enable_seqscan: 'off', enable_bitmapscan: 'off', enable_sort: 'off' },
}
const BEGIN = `BEGIN; SELECT ${Object.entries(SETTINGS).map(([name, value]) => `set_config('${name}', '${value}', true)`)},
    CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now, pg_current_xact_id()::text AS xid,
    ${TIMELINE} AS timeline`

/**
 * Opens tables in a PostgreSQL database (13 or newer) as a {@link Database}. Creates and updates them.
 *
 * @throws UsageError `ERR_STORE_ADDRESS`, `ERR_STORE_REFUSED`, `ERR_STORE_CERTIFICATE`, `ERR_DATABASE_NEWER`;
 *   TransientError `ERR_STORE_UNREACHABLE`. Later calls throw `ERR_STORE_FULL` and `ERR_STORE_UNREACHABLE` once their
 *   patience is over
 */
export async function openPostgresDatabase(
  address: PostgresAddress,
  migrations: readonly Migration[],
  { prefix, patienceMs = PATIENCE_MS, now, logger = silentLogger }: PostgresOptions,
): Promise<Database> {
  const server = new PostgresServer(address, logger)
  const scripts = postgresScripts(migrations)
  const context = { server, prefix, now, translate: translator(prefix, scripts), news: new PostgresNews(server) }
  try {
    await migratePostgres(databaseOf(context, Math.min(OPEN_MS, patienceMs)), prefix, scripts)
    const database = databaseOf(context, patienceMs)
    // Sets the clock.
    await database.withPatience(OPEN_MS).transaction(async () => {})
    return database
  } catch (error) {
    await server.close()
    throw error
  }
}

interface Context {
  readonly server: PostgresServer
  readonly prefix: string
  readonly now: (() => number) | undefined
  readonly translate: (sql: string) => string
  readonly news: PostgresNews
}

function databaseOf(context: Context, patienceMs: number): Database {
  const { server, prefix, now, news } = context
  const patiently = <T>(attempt: (client: Client) => Promise<T>) => server.patiently(patienceMs, attempt)
  const channel = (name: string) => `${prefix}_${name}`
  return {
    dialect: POSTGRES,
    run: (...args) => patiently((client) => statementsOn(client, context).run(...args)),
    get: (...args) => patiently((client) => statementsOn(client, context).get(...args)),
    all: (...args) => patiently((client) => statementsOn(client, context).all(...args)),
    transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
      let unanswered: Unanswered<T> | null = null
      return patiently(async (client) => {
        if (unanswered && (await wasCommitted(client, context, unanswered))) return unanswered.result
        unanswered = null
        return transact(client, context, work, (commit) => {
          unanswered = commit
        })
      })
    },
    nowMs: () => now?.() ?? server.clock.nowMs(),
    notify: async (name, text) => {
      await patiently((client) => server.query(client, NOTIFY, [channel(name), text]))
    },
    listen: (name, hear) => news.listen(channel(name), hear),
    withPatience: (ms) => databaseOf(context, ms),
    async close() {
      await news.close()
      await server.close()
    },
  }
}

function statementsOn(client: Client, { server, translate }: Context): Statements {
  const all: Statements['all'] = async (sql, values) => (await server.query(client, translate(sql), values)).rows
  return {
    dialect: POSTGRES,
    all,
    get: async (...args) => (await all(...args))[0],
    run: async (sql, values) => ({
      changes: (await server.query(client, translate(sql), values)).rowCount ?? 0,
    }),
  }
}

/** A commit that was sent and whose answer was lost. */
interface Unanswered<T> {
  readonly xid: string
  /** The history of the server: another one after a failover. */
  readonly timeline: string
  readonly result: T
}

async function transact<T>(
  client: Client,
  context: Context,
  work: (tx: Transaction) => Promise<T>,
  onUnanswered: (commit: Unanswered<T>) => void,
): Promise<T> {
  const { server, prefix, now } = context
  let began: Record<string, unknown> | undefined
  let result: T
  try {
    // Several statements in one message: its answers come as a list.
    const answers = (await server.query(client, BEGIN)) as unknown as { rows: Record<string, unknown>[] }[]
    began = answers.at(-1)?.rows[0]
    server.clock.set(Number(began?.now))
    result = await work({
      ...statementsOn(client, context),
      nowMs: now?.() ?? Number(began?.now),
      notify: async (name, text) => {
        await server.query(client, NOTIFY, [`${prefix}_${name}`, text])
      },
    })
  } catch (error) {
    if (!isLost(error)) await server.query(client, 'ROLLBACK')
    throw error
  }
  try {
    const { command } = await server.query(client, 'COMMIT')
    if (command !== 'COMMIT') throw new Error('A transaction went on after a statement of it had failed.')
    return result
  } catch (error) {
    if (isLost(error)) onUnanswered({ xid: String(began?.xid), timeline: String(began?.timeline), result })
    throw error
  }
}

async function wasCommitted<T>(
  client: Client,
  { server }: Context,
  { xid, timeline }: Unanswered<T>,
): Promise<boolean> {
  const { rows } = await server.query(client, `SELECT ${TIMELINE} AS timeline`, [])
  if (rows[0]?.timeline !== timeline) return false
  const found = await server.query(client, 'SELECT pg_xact_status(CAST($1 AS xid8)) AS status', [xid])
  const status = found.rows[0]?.status
  if (status === 'in progress') throw Object.assign(new Error('The commit is in progress.'), { code: '08007' })
  return status === 'committed'
}

/**
 * Creates and updates the tables of a prefix, one process at a time. Up-to-date tables are only read, so a role without
 * the right to create is enough then.
 *
 * @throws {UsageError} `ERR_DATABASE_NEWER`
 */
async function migratePostgres(database: Database, prefix: string, scripts: readonly string[]): Promise<void> {
  const versions = `${prefix}_versions`
  const check = async (statements: Pick<Transaction, 'get'>) => {
    const found = await statements.get('SELECT to_regclass(?) AS found', [versions])
    if (!found?.found) return 0
    const row = await statements.get(`SELECT coalesce(max(version), 0) AS version FROM ${versions}`)
    const version = Number(row?.version)
    if (version > scripts.length) throw newerDatabase('The job store')
    return version
  }
  if ((await check(database)) === scripts.length) return
  await database.transaction(async (tx) => {
    // A number for the prefix, the same in every process.
    const lock = createHash('sha256').update(`voxmux ${prefix}`).digest().readInt32BE()
    await tx.get('SELECT pg_advisory_xact_lock(?)', [lock])
    // First of all: a lookup by name alone would not see a table that another process created a moment ago.
    await tx.run(`CREATE TABLE IF NOT EXISTS ${versions} (version BIGINT PRIMARY KEY)`)
    const version = await check(tx)
    for (const script of scripts.slice(version)) await tx.run(script)
    await tx.run(`INSERT INTO ${versions} VALUES (?) ON CONFLICT DO NOTHING`, [scripts.length])
  })
}
