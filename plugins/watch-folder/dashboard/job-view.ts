import { basename } from 'node:path'
import type { Job, JobStatus } from '../../../src/ledger/index.js'
import type { Stage } from '../../../src/pipeline/events.js'
import type { JobProgress } from './progress-board.js'

/** A job as the page receives it. */
export interface JobView
  extends Pick<
    Job,
    | 'id'
    | 'input'
    | 'output'
    | 'group'
    | 'preset'
    | 'status'
    | 'attempts'
    | 'error'
    | 'holder'
    | 'createdMs'
    | 'updatedMs'
    | 'notBeforeMs'
  > {
  /** Name of the input, without its folder. */
  readonly name: string
  /** Null if the job does not run in this process. */
  readonly stage: Stage | null
  readonly percent: number | null
}

/** Builds the page's view of a job. */
export function jobView(job: Job, progress?: JobProgress): JobView {
  const { id, input, output, group, preset, status, attempts, error, holder, createdMs, updatedMs, notBeforeMs } = job
  return {
    ...{ id, name: basename(input), input, output, group, preset, status, attempts, error },
    ...{ holder, createdMs, updatedMs, notBeforeMs },
    stage: progress?.stage ?? null,
    percent: progress?.percent ?? null,
  }
}

/** The lists of the page, and the statuses in each. */
export const LISTS = {
  failed: ['failed', 'rejected'],
  done: ['done', 'skipped'],
  waiting: ['queued'],
  live: ['working', 'waiting-remote'],
} as const satisfies Record<string, readonly JobStatus[]>
type ListName = keyof typeof LISTS

export function isListName(name: string): name is ListName {
  return Object.hasOwn(LISTS, name)
}
