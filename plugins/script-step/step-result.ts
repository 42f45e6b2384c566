import type { FileEvent } from '../../src/pipeline/events.js'
import type { JobOutcome } from '../../src/pipeline/job/job-outcome.js'

/** A step that has its output: made now (`done`), or there before, of this very input and settings (`skipped`). */
export interface FinishedStep {
  readonly id: string
  /** Absolute path, or the address without what is secret in it. */
  readonly input: string
  readonly status: 'done' | 'skipped'
  /** Absolute path of the finished file. */
  readonly output: string
  /** Absolute path of its receipt. */
  readonly receipt: string
  readonly error: null
}

/** A step that goes on at the service: the same step again collects it. */
export interface PendingStep {
  readonly id: string
  readonly input: string
  readonly status: 'pending'
  readonly output: null
  readonly receipt: null
  /** `ERR_STILL_RUNNING`, and what to do. */
  readonly error: FileEvent['error']
}

/** How a step with `waitSec` ends. */
export type StepResult = FinishedStep | PendingStep

/** The result of a job that did not fail. */
export function resultOf({ event }: JobOutcome): StepResult {
  const { id, input, status, output, receipt, error } = event
  if (status === 'pending') return { id, input, status, output: null, receipt: null, error }
  if ((status === 'done' || status === 'skipped') && output !== null && receipt !== null) {
    return { id, input, status, output, receipt, error: null }
  }
  throw new Error(`A job that is ${status} has no result.`)
}
