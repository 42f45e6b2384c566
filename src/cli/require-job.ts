import { resolve } from 'node:path'
import { UsageError } from '../core/errors.js'
import type { Job, JobStore } from '../ledger/index.js'

/**
 * Finds a job by its id, or the newest job of an input.
 *
 * @throws UsageError `ERR_JOB_UNKNOWN`
 */
export async function requireJob(jobs: JobStore, idOrInput: string, cwd: string): Promise<Job> {
  const found = (await jobs.get(idOrInput)) ?? (await jobs.list({ input: resolve(cwd, idOrInput), limit: 1 }))[0]
  if (found) return found
  throw new UsageError('ERR_JOB_UNKNOWN', `The ledger has no job "${idOrInput}".`, {
    remedies: ['Name a job by its id or by the path of its input. `voxmux jobs list` shows all jobs.'],
  })
}
