import { TransientError } from '../../../core/errors.js'
import type { Logger } from '../../../core/logger.js'
import { type Ledger, openSharedLedger, openSharedScripts, type ScriptRunner } from '../../../ledger/index.js'
import type { NodeStore } from '../node-store.js'
import { redisStore } from './redis-store.js'

/** Prefix of all keys of a service, including its queue. */
const PREFIX = 'voxmux-service'

/** After this time a request gets 503, and its client tries another node or tries again. */
const ANSWER_PATIENCE_MS = 3000

/** How long a running file waits for a store that is away. */
const WORK_PATIENCE_MS = 600_000

/** The queue retries by itself, and the next sweep finds files that it could not write. */
const QUEUE_PATIENCE_MS = 10_000

/** How long running calls may take when a node ends. */
const LAST_PATIENCE_MS = 3000

export interface RedisNodeStoreOptions {
  readonly logger: Logger
  /** Unix milliseconds, for tests. Default: the clock of Redis. */
  readonly now?: (() => number) | undefined
  /** For tests that share a Redis. */
  readonly prefix?: string | undefined
}

/**
 * Opens a node's access to a store on Redis.
 *
 * @throws as `openSharedLedger` does
 */
export async function openRedisNodeStore(
  address: string,
  { logger, now, prefix = PREFIX }: RedisNodeStoreOptions,
): Promise<NodeStore> {
  const scripts = await openSharedScripts(address, { prefix, now, logger })
  const ending = new AbortController()
  let ledger: Promise<Ledger> | undefined
  return {
    store: redisStore(scripts.runner(ANSWER_PATIENCE_MS)),
    workStore: redisStore(untilEnd(scripts.runner(WORK_PATIENCE_MS), ending.signal)),
    async jobs() {
      ledger ??= openSharedLedger(address, { prefix, patienceMs: QUEUE_PATIENCE_MS, logger, ...(now && { now }) })
      return (await ledger).jobs
    },
    hurry: () => ending.abort(),
    async close() {
      await (await ledger?.catch(() => undefined))?.close()
      await scripts.close()
    },
  }
}

/** Waits as long as the runner does, but only {@link LAST_PATIENCE_MS} longer once the node ends. */
function untilEnd(runner: ScriptRunner, ending: AbortSignal): ScriptRunner {
  return {
    run: (...call) =>
      new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined
        const giveUp = () => {
          const message = 'The store does not respond, and the node is stopping.'
          timer = setTimeout(() => reject(new TransientError('ERR_STORE_UNREACHABLE', message)), LAST_PATIENCE_MS)
        }
        if (ending.aborted) giveUp()
        else ending.addEventListener('abort', giveUp, { once: true })
        runner
          .run(...call)
          .then(resolve, reject)
          .finally(() => {
            clearTimeout(timer)
            ending.removeEventListener('abort', giveUp)
          })
      }),
  }
}
