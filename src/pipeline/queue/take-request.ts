import type { Config, Flags } from '../../config/resolve-config.js'
import type { Job } from '../../ledger/index.js'
import type { PipelineContext } from '../context.js'
import { type JobRequestFile, queuedFileOfRequest } from './job-request.js'
import { queueJob } from './queue-job.js'
import { queuedRecordOf } from './queued-file.js'
import { retryJob } from './retry-job.js'

interface TakeOptions {
  /** Identifies this request: taken again after a crash, it forces and retries nothing. */
  readonly ticket: string
  readonly group: string
  /** Resolves the configuration with flags on top. */
  readonly configOf: (flags: Flags) => Promise<Config>
  readonly signal?: AbortSignal | undefined
}

/**
 * Enqueues a job that another program wrote. A job that failed before is queued again, because its author still wants it
 * done. One that is done stays so.
 *
 * @throws what `queuedFileOfRequest`, `queueJob` and `retryJob` throw
 */
export async function takeRequest(
  request: JobRequestFile,
  context: PipelineContext,
  { ticket, group, configOf, signal }: TakeOptions,
): Promise<Job> {
  const file = await queuedFileOfRequest(request, group, configOf)
  const { job, created } = await queueJob({ ...file, ticket }, context, { signal })
  const hasFailed = job.status === 'failed' || job.status === 'rejected'
  if (created || !hasFailed || queuedRecordOf(job)?.ticket === ticket) return job
  return retryJob(context.jobs, job, { force: false, settings: file.settings })
}
