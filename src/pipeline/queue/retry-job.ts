import { TransientError, UsageError } from '../../core/errors.js'
import type { Job, JobStore } from '../../ledger/index.js'
import type { JobSettings } from '../plan/job-settings.js'
import { queuedRecordOf } from './queued-file.js'

export interface RetryJobOptions {
  /** Runs a finished job again and replaces its output. */
  readonly force: boolean
  /** The present settings of its watched folder. An unfinished job takes them, because a person may have fixed them. */
  readonly settings?: JobSettings | undefined
}

/**
 * Queues a job again. An ended job runs again, and a waiting one is ready at once.
 *
 * @throws UsageError `ERR_JOB_WITHOUT_ORDER`, `ERR_JOB_UNKNOWN`; TransientError `ERR_JOB_HELD`
 */
export async function retryJob(jobs: JobStore, job: Job, { force, settings }: RetryJobOptions): Promise<Job> {
  const ready = await jobs.requeue(job.id)
  if (!ready) throw new UsageError('ERR_JOB_UNKNOWN', `The ledger no longer has the job ${job.id}.`)
  const isUnfinished = job.status === 'failed' || job.status === 'rejected'
  const present = isUnfinished ? settings : undefined
  if (!force && present === undefined) return ready
  const record = queuedRecordOf(ready)
  if (!record) {
    if (!force) return ready
    throw new UsageError('ERR_JOB_WITHOUT_ORDER', `${job.input} was not queued, so no worker can retry it.`, {
      input: job.input,
      remedies: ['Run it again: `voxmux run --force` with the same file and settings.'],
    })
  }
  const claim = await jobs.claim(ready.key)
  if (claim.outcome !== 'claimed') throw jobHeld(job)
  const wanted = { ...record.settings, ...present }
  await jobs.checkpoint(claim.lease, {
    state: { order: { ...record, settings: { ...wanted, force: force || wanted.force } } },
  })
  return jobs.release(claim.lease, { status: 'queued' })
}

/** The next step for a person whose queued job failed. */
export function retryRemedy(jobId: string): string {
  return `Fix the cause, then run: voxmux jobs retry ${jobId} (it uses the present settings of its watched folder)`
}

/** A process is running the job, and no other may change it. */
export function jobHeld({ input }: Job): TransientError {
  return new TransientError('ERR_JOB_HELD', `A process is running the job for ${input}.`, {
    input,
    remedies: ['Wait until it is done, or stop that process first.'],
  })
}
