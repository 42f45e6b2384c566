import type { ErrorReport } from '../../../src/core/errors.js'

/** The facts about an ended job that a command or webhook receives. Paths are absolute. */
export interface AfterFacts {
  readonly status: 'done' | 'skipped' | 'failed' | 'rejected'
  /** Null after a failure. */
  readonly output: string | null
  /** Its present path. */
  readonly source: string
  readonly preset: string
  /** The job's id, which stays the same if the job is retried. */
  readonly job: string
  /** Time of this end, ISO 8601. A retry has another one. */
  readonly at: string
  /** Null after success. The last remedy is how to retry. */
  readonly error: ErrorReport | null
  /** Address of the job on the dashboard; null without a dashboard. */
  readonly dashboard: string | null
  /** The report: `failed/….json` after a failure, the HTML page of `report` after success. Null without one. */
  readonly report: string | null
}
