import { errorReport, type VoxmuxError } from '../../core/errors.js'
import type { FileEvent, InputStatus } from '../events.js'
import { certificateWords } from '../output/certificate-words.js'
import type { Receipt } from '../output/receipt.js'
import { receiptPath } from '../plan/output-path.js'
import { shownInput } from '../web-address.js'
import type { FinishedJob } from './job-life.js'

/** How a job ended: the event for programs, the error with its exit code, and the receipt of a job that ran now. */
export interface JobOutcome {
  readonly event: FileEvent
  readonly error: VoxmuxError | null
  readonly receipt: Receipt | null
}

/** The outcome of a job with a published output. */
export function outcomeOfFinished(
  { id, input }: { readonly id: string; readonly input: string },
  { status, output, receipt }: FinishedJob,
): JobOutcome {
  const { certificate = null } = receipt ?? {}
  const verdict = certificate && {
    standard: certificate.standard,
    passed: certificate.passed,
    summary: certificateWords(certificate),
  }
  const event: FileEvent = {
    ...{ event: 'file', id, input, status, output },
    ...{ receipt: receiptPath(output), certificate: verdict, error: null },
  }
  // An older receipt does not describe this run.
  return { event, error: null, receipt: status === 'done' ? receipt : null }
}

/** The outcome of a job that ended without an output. */
export function outcomeOfError(
  { id, input }: { readonly id: string; readonly input: string },
  error: VoxmuxError,
  status: InputStatus = statusOf(error),
): JobOutcome {
  return { event: eventWithoutOutput({ id, input }, status, error), error, receipt: null }
}

/** The event of an input that has no output. */
export function eventWithoutOutput(
  { id, input }: { readonly id: string; readonly input: string },
  status: InputStatus,
  error: VoxmuxError | null,
): FileEvent {
  const report = error && errorReport(error)
  return { event: 'file', id, input: shownInput(input), status, output: null, receipt: null, error: report }
}

/** The status of an input after an error. */
export function statusOf(error: VoxmuxError): InputStatus {
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

/** Faults of the account, not of a file: credits used up, wrong credentials, no access. */
export function concernsAccount(error: VoxmuxError): boolean {
  return error.exitCode === 6 || error.errorCode === -10
}
