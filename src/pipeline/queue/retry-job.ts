import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type ErrorReport, TransientError, UsageError } from '../../core/errors.js'
import { isSameState, quickIdentity } from '../../core/file-identity.js'
import type { Job, JobStore } from '../../ledger/index.js'
import type { JobSettings } from '../plan/job-settings.js'
import { isWebAddress } from '../web-address.js'
import { queuedRecordOf } from './queued-file.js'

interface RetryJobOptions {
  /** Runs a finished job again and replaces its output. */
  readonly force: boolean
  /** The present settings of its watched folder. An unfinished job takes them, because a person may have fixed them. */
  readonly settings?: JobSettings | undefined
}

/**
 * Queues a job again. An ended job runs again, and a waiting one is ready at once.
 *
 * @throws UsageError `ERR_INPUT_MISSING`, `ERR_JOB_WITHOUT_ORDER`, `ERR_JOB_UNKNOWN`; TransientError `ERR_JOB_HELD`
 */
export async function retryJob(jobs: JobStore, job: Job, { force, settings }: RetryJobOptions): Promise<Job> {
  await requireInput(job)
  const ready = await jobs.requeue(job.id)
  if (!ready) throw new UsageError('ERR_JOB_UNKNOWN', `The ledger no longer has the job ${job.id}.`)
  const isUnfinished = job.status === 'failed' || job.status === 'rejected'
  const present = isUnfinished ? settings : undefined
  if (!force && present === undefined) return ready
  const record = queuedRecordOf(ready)
  if (!record) {
    if (!force) return ready
    throw notQueued(job)
  }
  const claim = await jobs.claim(ready.key)
  if (claim.outcome !== 'claimed') throw jobHeld(job)
  const wanted = { ...record.settings, ...present }
  await jobs.checkpoint(claim.lease, {
    state: { order: { ...record, settings: { ...wanted, force: force || wanted.force } } },
  })
  return jobs.release(claim.lease, { status: 'queued' })
}

/** A job of `voxmux run` has its settings on the command line alone. Queued, it would wait for ever. */
export function notQueued({ input }: Job): UsageError {
  return new UsageError('ERR_JOB_WITHOUT_ORDER', `${input} was not queued, so no worker can retry it.`, {
    input,
    remedies: ['Run it again with the same file and settings: `voxmux run`, with --force if it is done.'],
  })
}

/** Refuses a job whose file was renamed or removed. The job keeps the old name, under which it could only fail. */
async function requireInput(job: Job): Promise<void> {
  const { id, input } = job
  if (isWebAddress(input) || (await stat(input).catch(() => null))) return
  const names = await readdir(dirname(input)).catch(() => null)
  // A share that is away, or that only the workers have.
  if (names === null) return
  const renamed = await newNameOf(job, names)
  const what =
    renamed === undefined
      ? `${input} does not exist any more`
      : `${input} has another name now, ${renamed}, and its job has the old one`
  throw new UsageError('ERR_INPUT_MISSING', `${what}, so the job cannot be retried.`, {
    input,
    remedies: [
      `Run: voxmux jobs forget ${id}. A watch folder then takes the file under its new name; otherwise run it again.`,
      'Or give the file its old name back.',
    ],
  })
}

async function newNameOf({ input, inputIdentity }: Job, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const found = await quickIdentity(join(dirname(input), name)).catch(() => undefined)
    if (isSameState(inputIdentity, found)) return name
  }
  return undefined
}

/** The next steps for a person whose queued job failed: those of its fault, then the retry. */
export function remediesOfQueued(
  { code, remedies }: Pick<ErrorReport, 'code' | 'remedies'>,
  jobId: string,
): readonly string[] {
  const retry = `run: voxmux jobs retry ${jobId}`
  return [
    ...remedies,
    code === 'ERR_INPUT_CHANGED'
      ? `A watch folder takes the present version by itself. For any other job, ${retry}`
      : `Fix the cause, then ${retry}. Add the --config of its watch folder to use the present settings.`,
  ]
}

/** A process is running the job, and no other may change it. */
export function jobHeld({ input }: Job): TransientError {
  return new TransientError('ERR_JOB_HELD', `A process is running the job for ${input}.`, {
    input,
    remedies: ['Wait until it is done, or stop that process first.'],
  })
}
