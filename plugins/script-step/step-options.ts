import type { ProgressEvent } from '../../src/pipeline/events.js'
import type { Segment } from '../../src/pipeline/plan/segments.js'
import type { JobRequestFile } from '../../src/pipeline/queue/job-request.js'
import type { RunRequestsOptions } from '../../src/runtime/run-requests.js'

/** One step of a script: a file in, a file out. The configuration supplies missing settings. */
export interface StepJob extends Readonly<Omit<JobRequestFile, 'segments'>> {
  /** Parts to regenerate. Default: the whole file. */
  readonly segments?: readonly Segment[] | undefined
}

/** Progress of a step. */
export type StepProgress = Omit<ProgressEvent, 'event'>

/** Options of a step. `signal` leaves no part file, and the same step again continues it. */
export interface StepOptions
  extends Pick<RunRequestsOptions, 'signal' | 'logger' | 'waitSec' | 'cwd' | 'env' | 'config' | 'settings'> {
  readonly onProgress?: ((progress: StepProgress) => void) | undefined
}
