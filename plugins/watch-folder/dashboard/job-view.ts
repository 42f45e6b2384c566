import { basename } from 'node:path'
import type { Job, JobStatus } from '../../../src/ledger/index.js'
import type { JobStage } from './progress-board.js'

/** A job as the page receives it, with its progress if it runs in this process. */
export function jobView(job: Job, progress?: JobStage) {
  const { id, input, output, group, preset, status, attempts, error, holder, createdMs, updatedMs, notBeforeMs } = job
  return {
    ...{ id, name: basename(input), input, output, group, preset, status, attempts, error },
    ...{ holder, createdMs, updatedMs, notBeforeMs },
    stage: progress?.stage ?? null,
    percent: progress?.percent ?? null,
  }
}
export type JobView = ReturnType<typeof jobView>

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
