import type { VoxmuxError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import { backoffMs } from '../core/time.js'
import { type JobStore, WakeUp } from '../jobs/index.js'

/** Faults of the service or of the way to it. */
const SERVICE_CODES: readonly string[] = ['ERR_SERVICE_UNREACHABLE', 'ERR_SERVICE_BUSY', 'ERR_BAD_ANSWER']

export interface ServiceReturnOptions {
  readonly jobs: Pick<JobStore, 'hasten'>
  /** Only jobs of these groups; default all. */
  readonly groups?: readonly string[] | undefined
  readonly logger: Logger
  /** Time between two questions, and the longest between two single tries that come to nothing. */
  readonly probeMs: { readonly first: number; readonly longest: number }
  /** Throws where the service does not answer. */
  readonly ping: (signal: AbortSignal) => Promise<unknown>
  /** Called when jobs were made ready. */
  readonly onReady: () => void
}

/** So many looks in a row find nothing got through in an outage: what a success follows sooner is one file's fault. */
const OUTAGE_LOOKS = 2

/** Since a job met such a fault, none has got through. */
interface Failing {
  looks: number
  /** Single tries that came to nothing since the service answers. */
  tries: number
  /** Monotonic; no single try before. */
  tryAtMs: number
}

/**
 * Finds out that a service is back, and has those jobs tried that wait because of it, though their own time lies
 * minutes ahead. While nothing gets through, the service is asked whether it answers, which costs next to nothing; where
 * it does, one single job is tried. Each job that gets through calls another, and one more when it is done: so they come
 * back as fast as the service takes them, and none is called twice for one return.
 *
 * Nothing is paused meanwhile, as it is for an account that is not served: a fault may be one file's, what needs no
 * service goes on, and a file is given up after a day.
 */
export class ServiceReturn {
  readonly #options: ServiceReturnOptions
  readonly #wakeUp = new WakeUp()
  /** A worker that begins does not know what came before it. */
  #failing: Failing | null = { looks: OUTAGE_LOOKS, tries: 0, tryAtMs: 0 }
  /** Monotonic; since when the service is back, while jobs of before may still wait. */
  #backMs: number | null = null
  #through = 0
  #stop = new AbortController()
  #loop: Promise<void> | undefined

  constructor(options: ServiceReturnOptions) {
    this.#options = options
  }

  /** A job has ended in a fault, and waits by now. */
  met({ code }: VoxmuxError): void {
    if (SERVICE_CODES.includes(code)) this.#failing ??= { looks: 0, tries: 0, tryAtMs: 0 }
  }

  /** The service has dealt with a job, or the job is done. */
  gotThrough(): void {
    if (this.#failing === null && this.#backMs === null) return
    this.#through += 1
    this.#wakeUp.now()
  }

  start(): void {
    if (this.#loop) return
    this.#stop = new AbortController()
    this.#loop = this.#watch(this.#stop.signal)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wakeUp.now()
    await this.#loop
    this.#loop = undefined
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { logger, probeMs } = this.#options
    while (!signal.aborted) {
      await this.#wakeUp.wait(backoffMs(0, probeMs.first, probeMs.first))
      const through = this.#through
      this.#through = 0
      try {
        if (through > 0) await this.#welcome(through, signal)
        else if (this.#failing) await this.#probe(this.#failing, signal)
        // The one that was called last got nowhere, for a reason of its own.
        else if (this.#backMs !== null) await this.#callBack(1, this.#backMs)
      } catch (cause) {
        if (!signal.aborted) logger.debug({ cause }, 'could not look after the jobs that wait for the service')
      }
    }
  }

  /** Jobs got through: where that ends an outage, the others' waiting ends with it. */
  async #welcome(through: number, signal: AbortSignal): Promise<void> {
    if (this.#failing && this.#failing.looks >= OUTAGE_LOOKS) {
      // A voice out of the cache gets through without a service.
      if (!(await this.#answers(signal))) return
      this.#backMs = performance.now()
    }
    this.#failing = null
    if (this.#backMs !== null) await this.#callBack(through, this.#backMs)
  }

  async #callBack(limit: number, backMs: number): Promise<void> {
    const ready = await this.#hasten(limit, performance.now() - backMs)
    if (ready < limit) this.#backMs = null
  }

  async #probe(failing: Failing, signal: AbortSignal): Promise<void> {
    failing.looks += 1
    if (failing.looks < OUTAGE_LOOKS) return
    if (!(await this.#answers(signal))) {
      failing.tries = 0
      failing.tryAtMs = 0
      return
    }
    if (performance.now() < failing.tryAtMs || this.#through > 0) return
    const { first, longest } = this.#options.probeMs
    failing.tryAtMs = performance.now() + backoffMs(failing.tries++, first, longest)
    // Nobody waits: whoever fails next says so.
    if ((await this.#hasten(1, 0)) === 0) this.#failing = null
  }

  async #hasten(limit: number, putOffForMs: number): Promise<number> {
    const { jobs, groups, logger, onReady } = this.#options
    const filter = { codes: SERVICE_CODES, limit, putOffForMs: Math.floor(putOffForMs) }
    const ready = await jobs.hasten({ ...filter, ...(groups && { groups }) })
    if (ready === 0) return 0
    logger.info({ jobs: ready }, 'The service answers again: what waited for it is tried now.')
    onReady()
    return ready
  }

  async #answers(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.ping(signal)
      return true
    } catch {
      return false
    }
  }
}
