import type { VoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { backoffMs, sleep } from '../../core/time.js'
import type { JobStore, Pause } from '../../ledger/index.js'
import { backgroundLoop } from './background-loop.js'

/** Beginnings of the pauses that the guard set and may end. Any other pause is a person's. */
const NO_ACCESS = 'The service refuses this account: '
const NO_CREDITS = 'The service refuses this account for its credits: '

/** True for a pause of all jobs because of the account, not by a person. */
export function isAccountPause({ group, reason }: Pick<Pause, 'group' | 'reason'>): boolean {
  return group === null && (reason.startsWith(NO_ACCESS) || reason.startsWith(NO_CREDITS))
}

/** Pause between two checks for a pause or resume, in milliseconds. */
const LOOK_MS = 2000

interface AccountGuardOptions {
  readonly jobs: JobStore
  readonly logger: Logger
  /** First and longest time between two tries. */
  readonly probeMs: { readonly first: number; readonly longest: number }
  readonly lookMs?: number | undefined
  /** Runs one job although all are paused, if one is ready. */
  readonly probe: () => Promise<void>
}

/**
 * Stops the intake of the whole store if the account has no credits or no access, and logs that as an error. It then
 * tries a single job at growing intervals. It resumes when the service takes the voice of that job, or after missing
 * credits when the job succeeds.
 */
export class AccountGuard {
  readonly #options: AccountGuardOptions
  #troubles = 0
  #tries = 0
  #isProbing = false
  #hasTried = false
  readonly #loop = backgroundLoop((signal) => this.#watch(signal))

  constructor(options: AccountGuardOptions) {
    this.#options = options
  }

  /** True once this process has found out whether the service takes its account. A pause may be of an earlier one. */
  get hasTried(): boolean {
    return this.#hasTried
  }

  /** Pauses the store unless it is paused already. */
  async trouble(error: VoxmuxError): Promise<void> {
    const { jobs, logger } = this.#options
    this.#troubles += 1
    this.#hasTried = true
    if ((await jobs.pauses()).some(({ group }) => group === null)) return
    await jobs.pause(null, `${error.exitCode === 6 ? NO_ACCESS : NO_CREDITS}${error.message}`)
    const { code, errorCode, remedies } = error
    logger.error(
      { code, errorCode, remedies },
      `All jobs are paused, and no file fails because of it: ${error.message}`,
    )
  }

  /** The service took the voice of a job, so the login works. A long file does not keep the others waiting. */
  async accepted(): Promise<void> {
    if (!this.#isProbing) return
    const pauses = await this.#options.jobs.pauses()
    if (pauses.some((pause) => isAccountPause(pause) && pause.reason.startsWith(NO_ACCESS))) await this.#resume()
  }

  start(): void {
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { logger, lookMs = LOOK_MS } = this.#options
    while (!signal.aborted) {
      try {
        if (await this.#isPaused()) await this.#probe(signal)
        else this.#tries = 0
      } catch (cause) {
        if (!signal.aborted) logger.debug({ cause }, 'could not check the pause')
      }
      await sleep(lookMs, signal).catch(() => {})
    }
  }

  async #isPaused(): Promise<boolean> {
    return (await this.#options.jobs.pauses()).some(isAccountPause)
  }

  async #resume(): Promise<void> {
    await this.#options.jobs.resume(null)
    this.#options.logger.info({}, 'The service accepts this account again: jobs continue.')
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const { probe, probeMs } = this.#options
    // A start usually follows a correction.
    const isAfterStart = this.#tries === 0 && this.#troubles === 0
    if (!isAfterStart) await sleep(backoffMs(this.#tries, probeMs.first, probeMs.longest), signal)
    // A person or another worker resumed it in the meantime.
    if (!(await this.#isPaused())) return
    this.#tries += 1
    const before = this.#troubles
    this.#isProbing = true
    await probe().finally(() => {
      this.#isProbing = false
    })
    if (!signal.aborted && this.#troubles === before && (await this.#isPaused())) await this.#resume()
    this.#hasTried = true
  }
}
