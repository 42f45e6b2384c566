import { basename } from 'node:path'
import type { ErrorReport } from '../../../src/core/errors.js'
import type { Job, JobStatus } from '../../../src/ledger/index.js'
import type { Stage } from '../../../src/pipeline/events.js'
import type { JobProgress } from './progress-board.js'

/** A job as the page is given it. */
export interface JobView {
  readonly id: string
  /** Name of the input, without its folder. */
  readonly name: string
  readonly input: string
  readonly output: string | null
  readonly group: string
  readonly preset: string | null
  readonly status: JobStatus
  readonly attempts: number
  readonly error: ErrorReport | null
  readonly hasReceipt: boolean
  /** The process that has it in hand, on whichever machine of the store. */
  readonly holder: Job['holder']
  /** Unix milliseconds. */
  readonly createdMs: number
  readonly updatedMs: number
  /** When it is tried again, where it waits for that. */
  readonly notBeforeMs: number | null
  /** Of a job in work in this process. */
  readonly stage: Stage | null
  readonly percent: number | null
}

/** What the page is told of a job. */
export function jobView(job: Job, progress?: JobProgress): JobView {
  const { id, input, output, group, preset, status, attempts, error, createdMs, updatedMs, notBeforeMs } = job
  return {
    ...{ id, name: basename(input), input, output, group, preset, status, attempts, error },
    ...{ hasReceipt: job.receipt !== null, holder: job.holder },
    ...{ createdMs, updatedMs, notBeforeMs },
    stage: progress?.stage ?? null,
    percent: progress?.percent ?? null,
  }
}

/** What a person looks for, and the statuses that it stands for. */
export const LISTS = {
  failed: ['failed', 'rejected'],
  done: ['done', 'skipped'],
  waiting: ['queued'],
  live: ['working', 'waiting-remote'],
} as const satisfies Record<string, readonly JobStatus[]>
export type ListName = keyof typeof LISTS

/** True for the name of a list. */
export function isListName(name: string): name is ListName {
  return Object.hasOwn(LISTS, name)
}
