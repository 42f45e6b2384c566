import { resolve } from 'node:path'
import { UsageError } from '../core/errors.js'
import type { Job, JobStore } from '../jobs/index.js'

/**
 * The job that a person means: by its id, or the newest of an input.
 *
 * @throws UsageError `ERR_JOB_UNKNOWN`
 */
export async function findJob(jobs: JobStore, idOrInput: string, cwd: string): Promise<Job> {
  const found = (await jobs.get(idOrInput)) ?? (await jobs.list({ input: resolve(cwd, idOrInput), limit: 1 }))[0]
  if (found) return found
  throw new UsageError('ERR_JOB_UNKNOWN', `The ledger knows no job "${idOrInput}".`, {
    remedies: ['`voxmux jobs list` shows those it knows; a job is named by its id or by the path of its input.'],
  })
}
