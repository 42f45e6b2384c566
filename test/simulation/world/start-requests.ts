import type { ServiceAnswer } from './service-exchange.js'
import type { World } from './world.js'

/** What voxmux can know of its requests to start one file id. */
interface Started {
  requests: number
  /** Step at which the last request was sent. */
  sentAtStep: number
  /** The last request was certainly not accepted, or the status reports since then that the file has not started. */
  mayRepeat: boolean
  /** A status said that it is started. */
  isReported: boolean
}

/** Statuses of a file that may not have been started. */
const NOT_STARTED = ['Pending', 'NotFound']
/** Statuses of HTTP that say that a request was not accepted. */
const REFUSED = [401, 408, 429]

/** Counts the requests to start each file id, and requires a reason that the interface allows for each after the first. */
export class StartRequests {
  readonly #world: World
  readonly #files = new Map<string, Started>()

  constructor(world: World) {
    this.#world = world
  }

  /** Voxmux sends a request. */
  send(fileId: string, sentAtStep: number): void {
    const before = this.#files.get(fileId)
    const requests = (before?.requests ?? 0) + 1
    const why = before && reasonAgainst(before)
    if (why) this.#world.break('no file id is started twice', `${fileId} is started for the ${requests}. time, ${why}`)
    this.#files.set(fileId, { requests, sentAtStep, mayRepeat: false, isReported: before?.isReported ?? false })
  }

  /** The request was never sent. */
  unsent(fileId: string): void {
    this.#allow(fileId)
  }

  /** An answer to a start reaches voxmux. */
  answered(fileId: string, { status }: ServiceAnswer): void {
    if (REFUSED.includes(status)) this.#allow(fileId)
  }

  /** An answer of getFilesStatus reaches voxmux. @param sentAtStep of its request */
  reported({ status, body }: ServiceAnswer, sentAtStep: number): void {
    const entries = status === 200 ? parsed<readonly { id: string; status: string }[]>(body) : undefined
    for (const entry of entries ?? []) {
      const started = this.#files.get(entry.id)
      // An older question says nothing of a newer start.
      if (!started || sentAtStep <= started.sentAtStep) continue
      if (NOT_STARTED.includes(entry.status)) this.#allow(entry.id)
      else started.isReported = true
    }
  }

  #allow(fileId: string): void {
    const started = this.#files.get(fileId)
    if (started) started.mayRepeat = true
  }
}

function reasonAgainst({ isReported, mayRepeat }: Started): string | null {
  if (isReported) return 'although its status said that it is started'
  return mayRepeat ? null : 'and its status was not asked since the time before'
}

function parsed<T>(body: Buffer): T | undefined {
  try {
    return JSON.parse(body.toString()) as T
  } catch {
    // An odd answer says nothing.
    return undefined
  }
}
