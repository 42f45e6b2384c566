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

/** From a second to ten minutes, for a day since the job was made. */
export const retryForADay: RetryDelay = (job) =>
  Date.now() - job.createdMs > DAY_MS ? null : backoffMs(job.attempts - 1, FIRST_DELAY_MS, LAST_DELAY_MS)

/** Ends a job as the fault asks for that stopped it. */
export async function endAfterFault(held: HeldJob, error: VoxmuxError, retryDelay: RetryDelay): Promise<void> {
  const report = errorReport(error)
  switch (error.exitCode) {
    case 130:
      await held.release({ status: 'queued' })
      return
    case 3:
      await held.release({ status: 'waiting-remote', notBeforeMs: Date.now() + PENDING_DELAY_MS })
      return
    case 5:
      await held.fail({ status: 'rejected', error: report })
      return
    // An account without access is the account's fault, not the file's.
    case 6:
    case 4: {
      const delayMs = retryDelay(held.job, error)
      if (delayMs === null) await held.fail({ status: 'failed', error: report })
      else await held.retryAt(Date.now() + delayMs, report)
      return
    }
    case 0:
    case 1:
    case 2:
    case 7:
      await held.fail({ status: 'failed', error: report })
      return
    default:
      error.exitCode satisfies never
  }
}
