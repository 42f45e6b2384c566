import { errorReport, type VoxmuxError } from '../../core/errors.js'
import { backoffMs, DAY_MS } from '../../core/time.js'
import type { HeldJob } from './held-job.js'
import type { Job } from './job.js'

/** Returns the delay before the retry of a transient failure; null: the job fails for good. */
export type RetryDelay = (job: Job, error: VoxmuxError) => number | null

const FIRST_DELAY_MS = 1000
const LAST_DELAY_MS = 10 * 60 * 1000
/** Delay before the next poll of a file that is still processed by the service. */
const PENDING_DELAY_MS = 5000

/** Waits from a second to ten minutes. Gives up a day after the first failure in a row. */
export const retryForADay: RetryDelay = (job) =>
  Date.now() - failingSinceMs(job) > DAY_MS ? null : backoffMs(job.attempts - 1, FIRST_DELAY_MS, LAST_DELAY_MS)

/** Time of the first failure in a row (Unix milliseconds). A job may have waited for days before its first attempt. */
function failingSinceMs({ attempts, state }: Job): number {
  return attempts > 1 && typeof state.failingSinceMs === 'number' ? state.failingSinceMs : Date.now()
}

/** The end of a job that stopped with a fault. */
export type JobEnd =
  /** Back to the queue: it was interrupted, or is still processed by the service. */
  | { readonly kind: 'release'; readonly status: 'queued' | 'waiting-remote'; readonly notBeforeMs: number | null }
  /** Retried at that time (Unix milliseconds). */
  | { readonly kind: 'retry'; readonly atMs: number }
  /** Ended for good. */
  | { readonly kind: 'fail'; readonly status: 'failed' | 'rejected' }

/** Chooses the end for a fault. */
export function endFor(job: Job, error: VoxmuxError, retryDelay: RetryDelay): JobEnd {
  switch (error.exitCode) {
    case 130:
      return { kind: 'release', status: 'queued', notBeforeMs: null }
    case 3:
      return { kind: 'release', status: 'waiting-remote', notBeforeMs: Date.now() + PENDING_DELAY_MS }
    case 5:
      return { kind: 'fail', status: 'rejected' }
    // An account without access is not the file's fault.
    case 6:
    case 4: {
      const delayMs = retryDelay(job, error)
      return delayMs === null ? { kind: 'fail', status: 'failed' } : { kind: 'retry', atMs: Date.now() + delayMs }
    }
    case 0:
    case 1:
    case 2:
    case 7:
      return { kind: 'fail', status: 'failed' }
    default:
      return error.exitCode satisfies never
  }
}

/** Writes the end of a job to the store. */
export async function endJob(held: HeldJob, end: JobEnd, error: VoxmuxError): Promise<void> {
  const report = errorReport(error)
  switch (end.kind) {
    case 'release':
      await held.release({ status: end.status, notBeforeMs: end.notBeforeMs })
      return
    case 'retry':
      await held.checkpoint({ state: { failingSinceMs: failingSinceMs(held.job) } })
      await held.retryAt(end.atMs, report)
      return
    case 'fail':
      await held.fail({ status: end.status, error: report })
      return
    default:
      end satisfies never
  }
}
