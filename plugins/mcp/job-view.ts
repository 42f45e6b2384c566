import { isEnded, type Job } from '../../src/ledger/index.js'
import { STAGES } from '../../src/pipeline/events.js'
import type { Desk } from './desk.js'
import type { Task } from './sdk-package.js'

/** Milliseconds between two looks at a task. */
const POLL_MS = 1000

/** A job as the tools show it. */
export function jobView({ id, status, input, output, receipt, error, attempts, updatedMs }: Job, { worker }: Desk) {
  const running = worker.running.find(({ job }) => job.id === id)
  return {
    ...{ job: id, status, isEnded: isEnded(status), stage: running?.stage ?? null, percent: running?.percent ?? null },
    ...{ input, output, receipt, error, attempts, updated: new Date(updatedMs).toISOString() },
  }
}

/** Progress of a whole job, 0 to 100. It never falls. */
export function overallPercent({ stage, percent }: ReturnType<typeof jobView>): number {
  return stage === null ? 0 : (100 * STAGES.indexOf(stage) + (percent ?? 0)) / STAGES.length
}

/** A job as a task. */
export function taskOf(job: Job, desk: Desk): Task {
  const { stage, percent } = jobView(job, desk)
  const message = job.error?.message ?? (stage === null ? job.status : `${stage} ${Math.round(percent ?? 0)} %`)
  return {
    taskId: job.id,
    status: taskStatus(job.status),
    statusMessage: message,
    ttl: null,
    createdAt: new Date(job.createdMs).toISOString(),
    lastUpdatedAt: new Date(job.updatedMs).toISOString(),
    pollInterval: POLL_MS,
  }
}

function taskStatus(status: Job['status']): Task['status'] {
  switch (status) {
    case 'queued':
    case 'working':
    case 'waiting-remote':
      return 'working'
    case 'done':
    case 'skipped':
      return 'completed'
    case 'rejected':
    case 'failed':
      return 'failed'
    default:
      return status satisfies never
  }
}
