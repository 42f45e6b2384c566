import { isEnded, type Job } from '../../src/ledger/index.js'
import { STAGES } from '../../src/pipeline/events.js'
import type { Desk } from './desk.js'
import type { Task } from './sdk-package.js'

/** Milliseconds between two looks at a task. */
const POLL_MS = 1000

/** A job as the tools show it. */
export function toolJob(job: Job, { worker }: Desk) {
  const { id, input, output, receipt, error, attempts, updatedMs } = job
  const running = worker.running.find((each) => each.job.id === id)
  const status = isCancelled(job) ? 'cancelled' : job.status
  return {
    ...{
      job: id,
      status,
      isEnded: isEnded(job.status),
      stage: running?.stage ?? null,
      percent: running?.percent ?? null,
    },
    ...{ input, output, receipt, error, attempts, updated: new Date(updatedMs).toISOString() },
  }
}

/** True for a job whose task a client cancelled. */
export function isCancelled({ status, error }: Job): boolean {
  return status === 'failed' && error?.code === 'ERR_JOB_CANCELLED'
}

/** Progress of a whole job, 0 to 100. It never falls. */
export function overallPercent({ stage, percent }: ReturnType<typeof toolJob>): number {
  return stage === null ? 0 : (100 * STAGES.indexOf(stage) + (percent ?? 0)) / STAGES.length
}

const TASK_STATUSES: Readonly<Record<Job['status'], Task['status']>> = {
  ...{ queued: 'working', working: 'working', 'waiting-remote': 'working' },
  ...{ done: 'completed', skipped: 'completed', rejected: 'failed', failed: 'failed' },
}

/** A job as a task. */
export function taskOf(job: Job, desk: Desk): Task {
  const { stage, percent } = toolJob(job, desk)
  const message = job.error?.message ?? (stage === null ? job.status : `${stage} ${Math.round(percent ?? 0)} %`)
  return {
    taskId: job.id,
    status: isCancelled(job) ? 'cancelled' : TASK_STATUSES[job.status],
    statusMessage: message,
    ttl: null,
    createdAt: new Date(job.createdMs).toISOString(),
    lastUpdatedAt: new Date(job.updatedMs).toISOString(),
    pollInterval: POLL_MS,
  }
}
