import { type JobJson, QueueKeys, RedisConnection, RedisQueueBackend } from 'bullmq'
import type { Redis } from 'ioredis'

/** A call of one of BullMQ's own scripts. */
export interface BullCall {
  readonly script: string
  /** Keys first, then arguments, in BullMQ's order. */
  readonly values: readonly (string | number | Buffer)[]
}

/** Placeholder for a queue that only the script finds out; see `runBull` in `lua-prelude.ts`. */
export const ANY_QUEUE = 'voxmux-any-queue'

class RecordedCall extends Error {
  constructor(readonly call: BullCall) {
    super('recorded')
  }
}

/**
 * A queue backend of BullMQ that runs nothing. It records which script BullMQ would run, with its keys and arguments.
 * Our scripts embed that script. Checking the lease, moving the job and updating our index are then one atomic step.
 */
class Recorder extends RedisQueueBackend {
  override execCommand(_client: unknown, script: string, values: (string | number | Buffer | undefined)[]): never {
    throw new RecordedCall({ script, values: values.map((value) => value ?? '') })
  }

  finish(id: string, target: 'completed' | 'failed', value: string, token: string): never {
    const property = target === 'completed' ? 'returnvalue' : 'failedReason'
    const job = { id, opts: { attempts: 1 } } as Parameters<RedisQueueBackend['moveToFinishedArgs']>[0]
    const values = this.moveToFinishedArgs(job, value, property, undefined, target, token, Date.now(), false)
    return this.execCommand(null, 'moveToFinished', values as string[])
  }
}

/** The operations of BullMQ on a job, as calls that our scripts run. */
export interface BullQueue {
  add(job: { id: string; data: string; priority: number; delayMs: number; nowMs: number }): Promise<BullCall>
  /** Takes the first job of the queue. */
  activate(token: string, worker: string): Promise<BullCall>
  finish(id: string, target: 'completed' | 'failed', value: string, token: string): Promise<BullCall>
  delay(id: string, nowMs: number, delayMs: number, token: string): Promise<BullCall>
  giveBack(id: string, token: string): Promise<BullCall>
  setPriority(id: string, priority: number): Promise<BullCall>
  remove(id: string): Promise<BullCall>
}

/** Longest life of BullMQ's own lock. Our lease decides when a claim ends, and removes the lock then. */
const BULL_LOCK_MS = 24 * 3600 * 1000

/** BullMQ on a connection, with the text of each of its scripts. */
export interface Bull {
  readonly scripts: ReadonlyMap<string, { readonly lua: string; readonly numberOfKeys: number }>
  queue(name: string): BullQueue
}

/** Lets BullMQ load its scripts and keeps a copy of each. */
export async function openBull(client: Redis, prefix: string): Promise<Bull> {
  const scripts = new Map<string, { lua: string; numberOfKeys: number }>()
  const define = client.defineCommand.bind(client)
  client.defineCommand = (name, definition) => {
    // The name carries a version (`moveToActive:6.7.0`). Only one is loaded.
    scripts.set(name.replace(/:.*$/, ''), { lua: definition.lua, numberOfKeys: definition.numberOfKeys ?? 0 })
    define(name, definition)
  }
  const connection = new RedisConnection(client, { shared: true, blocking: false })
  // Without a listener, the error of a Redis that restarts would end the process.
  connection.on('error', () => {})
  await connection.client
  client.defineCommand = define
  const keys = new QueueKeys(prefix)
  return {
    scripts,
    queue(name) {
      const options = { connection: client, prefix, lockDuration: BULL_LOCK_MS }
      const toKey = (type: string) => keys.toKey(name, type)
      const queue = new Recorder(connection, name, keys.getKeys(name), toKey, options, undefined, false)
      return {
        add: ({ id, data, priority, delayMs, nowMs }) => {
          const opts = { jobId: id, priority, attempts: 1, ...(delayMs > 0 && { delay: delayMs }) }
          const job = { id, name: 'file', data, opts, timestamp: nowMs } as unknown as JobJson
          return recorded(queue.addJobToTransaction(client as never, job, id))
        },
        activate: (token, worker) => recorded(queue.moveToActive(token, worker)),
        finish: (...args) => recorded((async () => queue.finish(...args))()),
        delay: (id, nowMs, delayMs, token) =>
          recorded(queue.moveToDelayed(id, nowMs, delayMs, token, { skipAttempt: true })),
        giveBack: (id, token) => recorded(queue.moveJobFromActiveToWait(id, token)),
        setPriority: (id, priority) => recorded(queue.changePriority(id, priority)),
        remove: (id) => recorded(queue.remove(id, false)),
      }
    },
  }
}

async function recorded(call: Promise<unknown>): Promise<BullCall> {
  try {
    await call
  } catch (error) {
    if (error instanceof RecordedCall) return error.call
    throw error
  }
  throw new Error('BullMQ ran no script.')
}
