import { errorReport, type VoxmuxError } from '../core/errors.js'
import { backoffMs } from '../core/time.js'
import type { HeldJob } from './held-job.js'
import type { Job } from './job.js'

/** How long to wait before a job that failed transiently is tried again; null: no more, it has failed. */
export type RetryDelay = (job: Job, error: VoxmuxError) => number | null

const DAY_MS = 24 * 3600 * 1000
const FIRST_DELAY_MS = 1000
const LAST_DELAY_MS = 10 * 60 * 1000
/** How soon to ask again for what goes on at the service. */
const PENDING_DELAY_MS = 5000

/** From a second to ten minutes, for a day since the first of the failures in a row. */
export const retryForADay: RetryDelay = (job) =>
  Date.now() - failingSinceMs(job) > DAY_MS ? null : backoffMs(job.attempts - 1, FIRST_DELAY_MS, LAST_DELAY_MS)

/** Since when each try of a job has failed (Unix milliseconds). A job may have waited for days before its first. */
function failingSinceMs({ attempts, state }: Job): number {
  return attempts > 1 && typeof state.failingSinceMs === 'number' ? state.failingSinceMs : Date.now()
}

/** What becomes of a job that stopped with a fault. */
export type JobEnd =
  /** Back into the queue: it was interrupted, or goes on at the service. */
  | { readonly kind: 'release'; readonly status: 'queued' | 'waiting-remote'; readonly notBeforeMs: number | null }
  /** Tried again then (Unix milliseconds). */
  | { readonly kind: 'retry'; readonly atMs: number }
  /** Ended for good. */
  | { readonly kind: 'fail'; readonly status: 'failed' | 'rejected' }

/** The end that a fault asks for. */
export function endFor(job: Job, error: VoxmuxError, retryDelay: RetryDelay): JobEnd {
  switch (error.exitCode) {
    case 130:
      return { kind: 'release', status: 'queued', notBeforeMs: null }
    case 3:
      return { kind: 'release', status: 'waiting-remote', notBeforeMs: Date.now() + PENDING_DELAY_MS }
    case 5:
      return { kind: 'fail', status: 'rejected' }
    // An account without access is the account's fault, not the file's.
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

/** Writes the end of a job into the store. */
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
