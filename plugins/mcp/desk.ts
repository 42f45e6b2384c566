import type { Config, Flags } from '../../src/config/resolve-config.js'
import { UsageError } from '../../src/core/errors.js'
import type { Job } from '../../src/ledger/index.js'
import type { PipelineContext } from '../../src/pipeline/context.js'
import type { JobWorker } from '../../src/pipeline/queue/job-worker.js'
import type { ServerKey } from './server-key.js'

/** The parts that all connections of one server share. */
export interface Desk {
  readonly context: PipelineContext
  readonly worker: JobWorker
  readonly key: ServerKey
  /**
   * Group of the jobs. It names the service, because a plan was shown for that service: a server with another one must
   * not take its jobs.
   */
  readonly group: string
  /** Folders of `--root`. */
  readonly roots: readonly string[]
  /** Resolves the configuration with settings of one job on top. */
  readonly configOf: (flags: Flags) => Promise<Config>
}

/**
 * Finds a job of this server by its id.
 *
 * @throws {UsageError} `ERR_JOB_UNKNOWN`
 */
export async function requireOwnJob({ context, group }: Desk, id: string): Promise<Job> {
  const job = await context.jobs.get(id)
  if (job?.group === group) return job
  throw new UsageError('ERR_JOB_UNKNOWN', `The ledger has no job "${id}" of this server.`, {
    remedies: ['Call `status` without `job` to list the jobs.'],
  })
}
