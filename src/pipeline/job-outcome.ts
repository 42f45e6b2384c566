import { errorReport, type VoxmuxError } from '../core/errors.js'
import type { FileEvent, FileStatus } from './events.js'
import { receiptPath } from './output-path.js'
import type { Receipt } from './receipt.js'
import type { FinishedJob } from './work-on-job.js'

/** How a job ended: the event for programs, the error with its exit code, and the receipt of a job that was done now. */
export interface JobOutcome {
  readonly event: FileEvent
  readonly error: VoxmuxError | null
  readonly receipt: Receipt | null
}

/** The outcome of a job whose output stands in its place. */
export function outcomeOfFinished(
  { id, input }: { readonly id: string; readonly input: string },
  { status, output, receipt }: FinishedJob,
): JobOutcome {
  const event: FileEvent = { event: 'file', id, input, status, output, receipt: receiptPath(output), error: null }
  // A receipt of before says nothing of what was done now.
  return { event, error: null, receipt: status === 'done' ? receipt : null }
}

/** The outcome of a job that ends without an output. */
export function outcomeOfError(
  { id, input }: { readonly id: string; readonly input: string },
  error: VoxmuxError,
  status: FileStatus = statusOf(error),
): JobOutcome {
  const event: FileEvent = { event: 'file', id, input, status, output: null, receipt: null, error: errorReport(error) }
  return { event, error, receipt: null }
}

/** The status in which an error leaves its input. */
export function statusOf(error: VoxmuxError): FileStatus {
  switch (error.exitCode) {
    case 5:
      return 'rejected'
    case 3:
    case 130:
      return 'pending'
    default:
      return 'failed'
  }
}

/** Faults that no file has anything to do with: credits used up, wrong credentials, no access. */
export function concernsAccount(error: VoxmuxError): boolean {
  return error.exitCode === 6 || error.errorCode === -10
}
