import type { FileErrorCode } from '../../../contract/index.js'
import type { SqlValue } from '../../../ledger/index.js'
import type { FileRecord } from '../file-record.js'

/** A client's options to start a file. */
export type FileStartOptions = Pick<FileRecord, 'webhook' | 'webhookSecret' | 'outputType'>

/** Changes of a file. Each moves it forward, or changes nothing if its state does not allow that. */
export type FileChange =
  /** Starts a file that was never started, or that failed through no fault of its own. */
  | { readonly kind: 'start'; readonly options: FileStartOptions }
  /** From pending into progress. */
  | { readonly kind: 'begin'; readonly claim: number }
  /** Sets the progress. It never falls, however often a file is retried. */
  | { readonly kind: 'progress'; readonly claim: number; readonly percent: number }
  | { readonly kind: 'succeed'; readonly claim: number; readonly outputExtension: string }
  /** Ends the file and refunds its credits. */
  | { readonly kind: 'fail'; readonly claim: number; readonly errorCode: FileErrorCode }
  /** Only queues events. */
  | { readonly kind: 'tell'; readonly claim: number }
  /** Records that the input of an ended file is deleted. The file cannot be started again. */
  | { readonly kind: 'input-deleted' }
  /** Records that the output is deleted too. */
  | { readonly kind: 'output-deleted' }

/**
 * Failures after which the same file may be started again: a fault of the service (-1), a timeout (-12), or missing
 * credits (-10). The user may have topped up the credits since.
 */
const RETRYABLE_CODES: readonly FileErrorCode[] = [-1, -10, -12]

/** A guarded update of one file: the assignments and the condition. */
export interface FileUpdate {
  readonly set: string
  readonly values?: readonly SqlValue[]
  readonly when: string
  /** The values of `when`. */
  readonly bound?: readonly SqlValue[]
}

const OPEN_AND_HELD = "working_claim = ? AND state IN ('pending', 'in-progress')"
const ENDED = "state IN ('succeeded', 'failed')"
const RETRYABLE = `state = 'failed' AND input_deleted_ms IS NULL AND error_code IN (${RETRYABLE_CODES.join(', ')})`

/** Builds the update for a change of a file. */
export function updateFor(change: FileChange, nowMs: number): FileUpdate {
  switch (change.kind) {
    case 'start': {
      const { webhook, webhookSecret, outputType } = change.options
      return {
        set: `state = 'pending', error_code = 0, ended_ms = NULL, faults = 0, crashes = 0, working_claim = NULL,
          queued = 0, webhook = ?, webhook_secret = ?, output_type = ?`,
        values: [webhook ? 1 : 0, webhookSecret, outputType],
        when: `(state = 'registered' OR (${RETRYABLE}))`,
      }
    }
    case 'begin':
      return {
        set: "state = 'in-progress'",
        when: "working_claim = ? AND state = 'pending'",
        bound: [change.claim],
      }
    case 'progress': {
      const { percent, claim } = change
      const when = "working_claim = ? AND state = 'in-progress' AND progress < ?"
      return { set: 'progress = ?', values: [percent], when, bound: [claim, percent] }
    }
    case 'succeed': {
      const set = "state = 'succeeded', progress = 100, error_code = 0, output_extension = ?, ended_ms = ?"
      return { set, values: [change.outputExtension, nowMs], when: OPEN_AND_HELD, bound: [change.claim] }
    }
    case 'fail': {
      const set = "state = 'failed', error_code = ?, ended_ms = ?"
      return { set, values: [change.errorCode, nowMs], when: OPEN_AND_HELD, bound: [change.claim] }
    }
    case 'tell':
      return { set: 'state = state', when: OPEN_AND_HELD, bound: [change.claim] }
    case 'input-deleted':
      return { set: 'input_deleted_ms = ?', values: [nowMs], when: `input_deleted_ms IS NULL AND ${ENDED}` }
    case 'output-deleted': {
      const set = 'output_deleted_ms = ?, input_deleted_ms = coalesce(input_deleted_ms, ?)'
      return { set, values: [nowMs, nowMs], when: `output_deleted_ms IS NULL AND ${ENDED}` }
    }
    default:
      return change satisfies never
  }
}
