import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Logger } from '../../core/logger.js'
import { sleep } from '../../core/time.js'
import { withDeadline } from '../../core/waiting.js'
import type { Row, SqlValue } from './connection.js'
import type { PostgresAddress } from './postgres-address.js'
import { isConflict, isElsewhere, isLost, isPassing, isUnprepared, storeError } from './postgres-errors.js'
import { postgresSocket } from './postgres-socket.js'

/** One of the four connections of a process is kept for listening. */
const MAX_CONNECTIONS = 3
const CONNECT_MS = 10_000
/** A statement without an answer for so long has lost its connection: a pulled cable, a frozen server. */
const ANSWER_MS = 30_000
/** Pauses between two attempts of a call. */
const FIRST_WAIT_MS = 50
const LAST_WAIT_MS = 3000
/** A fault that comes and goes is logged once in this time. */
const SAME_FAULT_MS = 60_000

/** Reads an integer as a number if it fits, and a boolean as 0 or 1, as SQLite does. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1 : 0),
  20: (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)),
  1700: Number,
}
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid as never, format as never),
} as unknown as pg.CustomTypesConfig

/** A connection that is taken from the pool. */
export type Client = pg.PoolClient

/** The connections of this process to a database. */
interface Connections {
  /** One for each host. */
  readonly pools: readonly pg.Pool[]
  /** Index of the host that accepted writes last. */
  current: number
  users: number
}

const shared = new Map<string, Connections>()
const statementNames = new Map<string, string>()

/** A clock that goes on by the steady one of this process. */
class ServerClock {
  #aheadMs = Date.now() - performance.now()

  set(nowMs: number): void {
    this.#aheadMs = nowMs - performance.now()
  }

  nowMs(): number {
    return Math.round(performance.now() + this.#aheadMs)
  }
}

/** The connections to a PostgreSQL server, and the waiting while it is away. */
export class PostgresServer {
  readonly #address: PostgresAddress
  readonly #logger: Logger
  readonly #key: string
  readonly #connections: Connections
  /** The clock of the server, as of the last transaction. */
  readonly clock = new ServerClock()
  /** False behind a pooler that shares connections between clients. */
  #isPrepared = true
  #isFaultLogged = false
  readonly #quietUntilMs = new Map<string, number>()
  #isClosed = false

  constructor(address: PostgresAddress, logger: Logger) {
    this.#address = address
    this.#logger = logger
    this.#key = JSON.stringify(address)
    const pools = () => address.hosts.map((_, index) => newPool(configOf(address, index)))
    this.#connections = shared.get(this.#key) ?? { pools: pools(), current: 0, users: 0 }
    shared.set(this.#key, this.#connections)
    this.#connections.users += 1
  }

  /** Runs `attempt` on a connection until it succeeds, fails for good, or `patienceMs` are over. */
  async patiently<T>(patienceMs: number, attempt: (client: Client) => Promise<T>): Promise<T> {
    const untilMs = performance.now() + patienceMs
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LAST_WAIT_MS)) {
      try {
        const answer = await this.#connected(attempt)
        this.#log(null)
        return answer
      } catch (error) {
        if (isUnprepared(error)) this.#isPrepared = false
        const fault = storeError(error)
        if (!isPassing(error) || performance.now() + waitMs > untilMs || this.#isClosed) throw fault
        if (!isConflict(error)) this.#log((fault as Error).message)
        await sleep(waitMs)
      }
    }
  }

  /** Runs one statement, or several without values. */
  async query(client: Client, text: string, values?: readonly SqlValue[]): Promise<pg.QueryResult<Row>> {
    const prepared = values && this.#isPrepared && { name: nameOf(text) }
    const bound = values && {
      values: values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)),
    }
    return withDeadline(client.query<Row>({ text, types, ...bound, ...prepared }), ANSWER_MS, () => {
      throw new Error('Connection terminated: no answer in time.')
    })
  }

  /** A connection outside of the pool. */
  connectAlone(): pg.Client {
    return new pg.Client(configOf(this.#address, this.#connections.current))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#connections.users -= 1
    if (this.#connections.users > 0) return
    shared.delete(this.#key)
    await withDeadline(Promise.all(this.#connections.pools.map((pool) => pool.end())), 2000, () => {})
  }

  async #connected<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { pools, current } = this.#connections
    let client: Client | undefined
    try {
      client = await (pools[current] as pg.Pool).connect()
      const result = await work(client)
      client.release()
      return result
    } catch (error) {
      client?.release(isLost(error))
      if (isElsewhere(error) && this.#connections.current === current)
        this.#connections.current = (current + 1) % pools.length
      throw error
    }
  }

  /** Logs a fault and its end once, however many calls wait and however often it returns. */
  #log(fault: string | null): void {
    if (this.#isFaultLogged === (fault !== null)) return
    if (fault !== null) {
      const nowMs = performance.now()
      if (nowMs < (this.#quietUntilMs.get(fault) ?? 0)) return
      this.#quietUntilMs.set(fault, nowMs + SAME_FAULT_MS)
    }
    this.#isFaultLogged = fault !== null
    this.#logger.warn({}, fault === null ? 'The job store responds again.' : `${fault} Retrying.`)
  }
}

/**
 * Name of a prepared statement. It follows from the text, because a pooler may hand over a connection on which another
 * process has prepared a statement of that name.
 */
function nameOf(text: string): string {
  const name = statementNames.get(text) ?? `voxmux_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
  statementNames.set(text, name)
  return name
}

function newPool(config: pg.ClientConfig): pg.Pool {
  const pool = new pg.Pool({ ...config, max: MAX_CONNECTIONS, allowExitOnIdle: true })
  // Without a listener, the error of a server that restarts would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

function configOf({ hosts, password, ...access }: PostgresAddress, index: number): pg.ClientConfig {
  return {
    ...access,
    ...hosts[index],
    password: password as string | undefined,
    application_name: 'voxmux',
    stream: postgresSocket,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
}
