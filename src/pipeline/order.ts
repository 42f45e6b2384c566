import type { Job } from '../jobs/index.js'
import type { JobSettings } from './job-settings.js'
import type { JobPlan } from './plan-job.js'

/** A job that is planned, claimed, and has room to work in. */
export interface Order {
  readonly plan: JobPlan
  readonly settings: JobSettings
  readonly job: Job
  readonly part: string
  /** See `requireOnDisk`. */
  readonly outputDisk: number
  readonly workFolder: string
  readonly recipeHash: string
  /** What stands at the output's place gives way. */
  readonly replace: boolean
}
