import type { Redis } from 'ioredis'
import type { Logger } from '../../core/logger.js'
import { sleep } from '../../core/time.js'
import type { Bull, BullCall } from './bull-recorder.js'
import { LUA_PRELUDE } from './lua-prelude.js'
import { isPassing, storeError } from './store-errors.js'

/** A script of ours: what follows `LUA_PRELUDE`. `bull` names the scripts of BullMQ of which it runs one within itself. */
export interface StoreScript {
  readonly lua: string
  readonly bull?: readonly string[]
}

export interface RedisScriptsOptions {
  readonly client: Redis
  readonly bull: Bull
  /** Braced, so that all keys lie on one node of a cluster. */
  readonly prefix: string
  /** Unix milliseconds, for tests; default the clock of Redis. */
  readonly now?: (() => number) | undefined
  /** So many replicas must have a write before it counts as done. */
  readonly replicas: number
  readonly logger: Logger
  /** How long a call waits for a Redis that is away, full or failing over before it is given up. */
  readonly patienceMs: number
}

type Callable = (...values: (string | number | Buffer)[]) => Promise<unknown>

/** How long a replica may take before the write is tried again. */
const REPLICA_WAIT_MS = 5000
/** Pauses between two tries of a call. */
const FIRST_WAIT_MS = 100
const LAST_WAIT_MS = 5000

/** Runs scripts in Redis, each of them whole or not at all, and waits out what passes. */
export class RedisScripts {
  readonly #options: RedisScriptsOptions
  readonly #defined = new Set<string>()
  /** The fault that the log was told of, while it lasts. */
  #said: string | null = null

  constructor(options: RedisScriptsOptions) {
    this.#options = options
  }

  /** Unix milliseconds of this machine: for times that are written, never for what decides on a lease. */
  now(): number {
    return this.#options.now?.() ?? Date.now()
  }

  /**
   * Runs a script.
   *
   * @param own its arguments
   * @param call the call of BullMQ that it contains
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
   * The answer, once the replicas have what led to it. Where they do not get it in time, the whole call is made again:
   * the server may have failed since, and each call knows its own repetition.
   */
  async #replicated(answer: Promise<unknown>): Promise<unknown> {
    const { replicas, client } = this.#options
    if (replicas === 0) return answer
    // On the same connection: Redis counts for what was written there before.
    const [answered, count] = await Promise.all([answer, client.wait(replicas, REPLICA_WAIT_MS)])
    if (count >= replicas) return answered
    throw new Error(`NOREPLICAS ${count} of ${replicas} replicas have this write.`)
  }

  async #patiently(work: () => Promise<unknown>): Promise<unknown> {
    const { patienceMs } = this.#options
    const started = Date.now()
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LAST_WAIT_MS)) {
      try {
        const answer = await withDeadline(work(), started + patienceMs - Date.now())
        if (waitMs > FIRST_WAIT_MS) this.#say(null)
        return answer
      } catch (error) {
        const fault = storeError(error)
        if (!isPassing(error) || Date.now() - started + waitMs > patienceMs) throw fault
        this.#say((fault as Error).message)
        await sleep(waitMs)
      }
    }
  }

  /** Says once what keeps calls waiting, however many wait, and once that it is over. */
  #say(fault: string | null): void {
    if (fault === this.#said) return
    this.#said = fault
    this.#options.logger.warn({}, fault === null ? 'The job store takes writes again.' : `${fault} Trying again.`)
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
      // Keys and arguments of BullMQ's script become parameters: within ours they have other places.
      const part = call
        ? `local function bull(KEYS, ARGV)\n${this.#bullScript(call.script).lua}\nend`
        : 'local bull = nil'
      client.defineCommand(command, { lua: `${part}\n${LUA_PRELUDE}\n${lua}` })
      this.#defined.add(command)
    }
    return (client as unknown as Record<string, Callable>)[command]?.bind(client) as Callable
  }
}

/** A call that Redis never answers, because nothing is connected, ends here; sent later it finds its lease gone. */
async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('Connection is closed: no answer in time.')), Math.max(0, ms))
    timer.unref()
  })
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}
