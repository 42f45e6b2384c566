import type { SqlValue } from '../../../ledger/index.js'
import { type FileChange, RETRYABLE_CODES } from '../files.js'

/** A guarded update of one file: the assignments and the condition. */
export interface FileUpdate {
  readonly set: string
  readonly values: readonly SqlValue[]
  readonly when: string
  readonly bound: readonly SqlValue[]
}

const OPEN = "state IN ('pending', 'in-progress')"
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
        bound: [],
      }
    }
    case 'begin':
      return update("state = 'in-progress'", [], "working_claim = ? AND state = 'pending'", [change.claim])
    case 'progress': {
      const { percent, claim } = change
      const when = "working_claim = ? AND state = 'in-progress' AND progress < ?"
      return update('progress = ?', [percent], when, [claim, percent])
    }
    case 'succeed': {
      const set = "state = 'succeeded', progress = 100, error_code = 0, output_extension = ?, ended_ms = ?"
      return update(set, [change.outputExtension, nowMs], `working_claim = ? AND ${OPEN}`, [change.claim])
    }
    case 'fail': {
      const set = "state = 'failed', error_code = ?, ended_ms = ?"
      return update(set, [change.errorCode, nowMs], `working_claim = ? AND ${OPEN}`, [change.claim])
    }
    case 'tell':
      return update('state = state', [], `working_claim = ? AND ${OPEN}`, [change.claim])
    case 'input-deleted':
      return update('input_deleted_ms = ?', [nowMs], `input_deleted_ms IS NULL AND ${ENDED}`, [])
    case 'output-deleted': {
      const set = 'output_deleted_ms = ?, input_deleted_ms = coalesce(input_deleted_ms, ?)'
      return update(set, [nowMs, nowMs], `output_deleted_ms IS NULL AND ${ENDED}`, [])
    }
    default:
      return change satisfies never
  }
}

function update(set: string, values: readonly SqlValue[], when: string, bound: readonly SqlValue[]): FileUpdate {
  return { set, values, when, bound }
}
