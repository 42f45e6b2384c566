import { resolve } from 'node:path'
import type { Config } from '../config/index.js'
import { sortableId } from '../jobs/index.js'
import { isWebAddress } from './expand-inputs.js'
import type { JobRequestFile } from './job-request-schema.js'
import { settingsOfConfig } from './job-settings.js'
import type { PlanRequest } from './plan-job.js'

/**
 * What the pipeline is asked for by a job that another program wrote, to be done by this process.
 *
 * @param config resolved with the job's own settings on top: see `flagsOfRequest`
 * @param from the folder that relative paths count from, and the group that the job takes turns in
 */
export function planRequestOfJob(
  { input, output, segments = [], force = false }: JobRequestFile,
  config: Config,
  { cwd, group }: Pick<PlanRequest, 'cwd' | 'group'>,
): PlanRequest {
  return {
    provisionalId: sortableId(),
    input: isWebAddress(input) ? input : resolve(cwd, input),
    output,
    cwd,
    group,
    settings: settingsOfConfig(config, { segments, force, previewSec: null }),
    remote: false,
  }
}
