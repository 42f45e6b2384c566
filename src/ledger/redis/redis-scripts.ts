import type { Redis } from 'ioredis'
import type { Logger } from '../../core/logger.js'
import { sleep } from '../../core/time.js'
import type { Bull, BullCall } from './bull-recorder.js'
import { LUA_PRELUDE } from './lua-prelude.js'
import { isPassing, storeError } from './store-errors.js'

/** A script without its `LUA_PRELUDE`. `bull` names the scripts of BullMQ, one of which it may embed. */
export interface StoreScript {
  readonly lua: string
  readonly bull?: readonly string[]
}

export interface RedisScriptsOptions {
  readonly client: Redis
  readonly bull: Bull
  /** In braces, so that a cluster keeps all keys on one node. */
  readonly prefix: string
  /** Unix milliseconds, for tests; default the clock of Redis. */
  readonly now?: (() => number) | undefined
  /** Number of replicas that must have a write before it counts as done. */
  readonly replicas: number
  readonly logger: Logger
  /** How long a call waits for a Redis that is away, full or failing over. */
  readonly patienceMs: number
}

type Callable = (...values: (string | number | Buffer)[]) => Promise<unknown>

/** How long a replica may take before the write is retried. */
const REPLICA_WAIT_MS = 5000
/** Pauses between two attempts of a call. */
const FIRST_WAIT_MS = 100
const LAST_WAIT_MS = 5000

/** Runs scripts in Redis atomically, and waits while a fault is temporary. */
export class RedisScripts {
  readonly #options: RedisScriptsOptions
  readonly #defined = new Set<string>()
  /** The fault that was logged last, while it lasts. */
  #logged: string | null = null

  constructor(options: RedisScriptsOptions) {
    this.#options = options
  }

  /** Unix milliseconds of this machine. Only for recorded times, never to decide on a lease. */
  now(): number {
    return this.#options.now?.() ?? Date.now()
  }

  /**
   * Runs a script.
   *
   * @param own its arguments
   * @param call the call of BullMQ that it embeds
   * @throws TransientError `ERR_STORE_FULL`, `ERR_STORE_UNREACHABLE`; UsageError `ERR_STORE_REFUSED`
   */
  async run(
    name: string,
    script: StoreScript,
    own: readonly (string | number)[] = [],
    call?: BullCall,
  ): Promise<unknown> {
    const { now, prefix } = this.#options
    const command = this.#define(name, script, call)
    const numberOfKeys = call ? this.#bullScript(call.script).numberOfKeys : 0
    const keys = [`${prefix}:own:keys`, ...(call?.values.slice(0, numberOfKeys) ?? [])]
    const head = [prefix, now ? now() : '', own.length]
    return this.#patiently(() =>
      this.#replicated(command(keys.length, ...keys, ...head, ...own, ...(call?.values.slice(numberOfKeys) ?? []))),
    )
  }

  /**
   * Waits until the replicas have the write. If they do not get it in time, the whole call is sent again, because the
   * server may have failed since. Each script recognizes a repeated call.
   */
  async #replicated(answer: Promise<unknown>): Promise<unknown> {
    const { replicas, client } = this.#options
    if (replicas === 0) return answer
    // Redis counts the replicas for the writes of the same connection.
    const [answered, count] = await Promise.all([answer, client.wait(replicas, REPLICA_WAIT_MS)])
    if (count >= replicas) return answered
    throw new Error(`NOREPLICAS ${count} of ${replicas} replicas have this write.`)
  }

  async #patiently(attempt: () => Promise<unknown>): Promise<unknown> {
    const { patienceMs } = this.#options
    const started = Date.now()
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LAST_WAIT_MS)) {
      try {
        const answer = await withDeadline(attempt(), started + patienceMs - Date.now())
        if (waitMs > FIRST_WAIT_MS) this.#log(null)
        return answer
      } catch (error) {
        const fault = storeError(error)
        if (!isPassing(error) || Date.now() - started + waitMs > patienceMs) throw fault
        this.#log((fault as Error).message)
        await sleep(waitMs)
      }
    }
  }

  /** Logs a fault and its end once, however many calls wait. */
  #log(fault: string | null): void {
    if (fault === this.#logged) return
    this.#logged = fault
    this.#options.logger.warn({}, fault === null ? 'The job store accepts writes again.' : `${fault} Retrying.`)
  }

  #bullScript(name: string) {
    const script = this.#options.bull.scripts.get(name)
    if (!script) throw new Error(`This version of BullMQ has no script ${name}.`)
    return script
  }

  #define(name: string, { lua, bull = [] }: StoreScript, call?: BullCall): Callable {
    const { client } = this.#options
    if (call && !bull.includes(call.script)) throw new Error(`${name} does not expect BullMQ's ${call.script}.`)
    const command = `voxmux:${name}:${call?.script ?? ''}`
    if (!this.#defined.has(command)) {
      // KEYS and ARGV become parameters, because they have other indexes in our script.
      const part = call
        ? `local function bull(KEYS, ARGV)\n${this.#bullScript(call.script).lua}\nend`
        : 'local bull = nil'
      client.defineCommand(command, { lua: `${part}\n${LUA_PRELUDE}\n${lua}` })
      this.#defined.add(command)
    }
    return (client as unknown as Record<string, Callable>)[command]?.bind(client) as Callable
  }
}

/** Ends a call that gets no answer without a connection. If it is sent later, it finds its lease gone. */
async function withDeadline<T>(answer: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('Connection is closed: no answer in time.')), Math.max(0, ms))
    timer.unref()
  })
  try {
    return await Promise.race([answer, deadline])
  } finally {
    clearTimeout(timer)
  }
}
