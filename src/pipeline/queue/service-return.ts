import type { VoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { backoffMs } from '../../core/time.js'
import { WakeUp } from '../../core/waiting.js'
import type { JobStore } from '../../ledger/index.js'
import { backgroundLoop } from './background-loop.js'

/** Faults of the service or of the connection to it. */
const SERVICE_CODES: readonly string[] = [
  ...['ERR_SERVICE_UNREACHABLE', 'ERR_SERVICE_BUSY', 'ERR_BAD_ANSWER'],
  ...['ERR_INSECURE_ADDRESS', 'ERR_WRONG_ADDRESS'],
]

interface ServiceReturnOptions {
  readonly jobs: Pick<JobStore, 'expedite'>
  /** Groups of the jobs; default all. */
  readonly groups?: readonly string[] | undefined
  readonly logger: Logger
  /** Pause between two pings, and the longest between two fruitless tries. */
  readonly probeMs: { readonly first: number; readonly longest: number }
  /** Throws if the service does not respond. */
  readonly ping: (signal: AbortSignal) => Promise<unknown>
  /** Called after jobs were made ready. */
  readonly onReady: () => void
}

/** Checks without any success in a row that make an outage. A sooner success means that one file was at fault. */
const OUTAGE_LOOKS = 2

/** The state since the first such fault without a success. */
interface Failing {
  looks: number
  /** Fruitless single tries since the service responds. */
  tries: number
  /** Monotonic time of the next single try; 0 before the first. */
  tryAtMs: number
}

/**
 * Detects that a service is back, and releases the jobs that wait because of it before their own time. During an outage
 * the service is pinged, which costs next to nothing. If it responds, one single job is tried. Each job that reaches
 * the service releases another, and one more when it is done. Jobs therefore come back as fast as the service takes
 * them, and none is released twice for one return.
 *
 * Nothing is paused meanwhile, unlike for a refused account. The fault may be one file's, other jobs continue, and a
 * file fails after a day.
 */
export class ServiceReturn {
  readonly #options: ServiceReturnOptions
  readonly #wakeUp = new WakeUp()
  /** A new worker does not know what came before it. */
  #failing: Failing | null = { looks: OUTAGE_LOOKS, tries: 0, tryAtMs: 0 }
  /** Monotonic time since which the service is back, while older jobs may still wait. */
  #backMs: number | null = null
  #through = 0
  readonly #loop = backgroundLoop((signal) => this.#watch(signal))

  constructor(options: ServiceReturnOptions) {
    this.#options = options
  }

  /** A job ended with a fault and waits. */
  met({ code }: VoxmuxError): void {
    if (SERVICE_CODES.includes(code)) this.#failing ??= { looks: 0, tries: 0, tryAtMs: 0 }
  }

  /** The service processed a job, or the job is done. */
  reached(): void {
    if (this.#failing === null && this.#backMs === null) return
    this.#through += 1
    this.#wakeUp.now()
  }

  start(): void {
    this.#loop.start()
  }

  async stop(): Promise<void> {
    const stopped = this.#loop.stop()
    this.#wakeUp.now()
    await stopped
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { logger, probeMs } = this.#options
    while (!signal.aborted) {
      await this.#wakeUp.wait(backoffMs(0, probeMs.first, probeMs.first))
      const through = this.#through
      this.#through = 0
      try {
        if (through > 0) await this.#resume(through, signal)
        else if (this.#failing) await this.#probe(this.#failing, signal)
        // The job released last failed for a reason of its own.
        else if (this.#backMs !== null) await this.#callBack(1, this.#backMs)
      } catch (cause) {
        if (!signal.aborted) logger.debug({ cause }, 'could not release the jobs that wait for the service')
      }
    }
  }

  /** Counts jobs that reached the service. If that ends an outage, releases the others. */
  async #resume(through: number, signal: AbortSignal): Promise<void> {
    if (this.#failing && this.#failing.looks >= OUTAGE_LOOKS) {
      // A cached voice succeeds without the service.
      if (!(await this.#answers(signal))) return
      this.#backMs = performance.now()
    }
    this.#failing = null
    if (this.#backMs !== null) await this.#callBack(through, this.#backMs)
  }

  async #callBack(limit: number, backMs: number): Promise<void> {
    const ready = await this.#expedite(limit, performance.now() - backMs)
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
    // No job waits. The next failure starts again.
    if ((await this.#expedite(1, 0)) === 0) this.#failing = null
  }

  async #expedite(limit: number, putOffForMs: number): Promise<number> {
    const { jobs, groups, logger, onReady } = this.#options
    const ready = await jobs.expedite({ codes: SERVICE_CODES, limit, putOffForMs: Math.floor(putOffForMs), groups })
    if (ready === 0) return 0
    logger.info({ jobs: ready }, 'The service responds again: waiting jobs are retried now.')
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
