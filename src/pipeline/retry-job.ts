import { TransientError, UsageError } from '../core/errors.js'
import type { Job, JobStore } from '../jobs/index.js'
import { orderOf } from './queued-order.js'

/**
 * Puts a job back into the queue: one that has ended is done again, one that waits is ready at once.
 *
 * @param force what is done already is done again, and its output replaced
 * @throws UsageError `ERR_JOB_WITHOUT_ORDER`, `ERR_JOB_UNKNOWN`; TransientError `ERR_JOB_HELD`
 */
export async function retryJob(jobs: JobStore, job: Job, { force }: { readonly force: boolean }): Promise<Job> {
  const ready = await jobs.requeue(job.id)
  if (!ready) throw new UsageError('ERR_JOB_UNKNOWN', `The ledger holds no job ${job.id} any more.`)
  if (!force) return ready
  const order = orderOf(ready)
  if (!order) {
    throw new UsageError('ERR_JOB_WITHOUT_ORDER', `${job.input} was not queued: no worker does it again.`, {
      input: job.input,
      remedies: ['Run it again: `voxmux run --force` with the same file and settings.'],
    })
  }
  const claim = await jobs.claim(ready.key)
  if (claim.outcome !== 'claimed') throw jobHeld(job)
  await jobs.checkpoint(claim.lease, {
    state: { order: { ...order, settings: { ...order.settings, force: true } } },
  })
  return jobs.release(claim.lease, { status: 'queued' })
}

/** Somebody works on it now, and nobody else may change it. */
export function jobHeld({ input }: Job): TransientError {
  return new TransientError('ERR_JOB_HELD', `A process is working on ${input} right now.`, {
    input,
    remedies: ['Wait until it is done, or stop that process first.'],
  })
}
