import type { Flags } from '../../src/config/resolve-config.js'
import type { Logger } from '../../src/core/logger.js'
import type { ProgressEvent } from '../../src/pipeline/events.js'
import type { Segment } from '../../src/pipeline/plan/segments.js'
import type { JobRequestFile } from '../../src/pipeline/queue/job-request.js'

/** One step of a script: a file in, a file out. The configuration supplies missing settings. */
export interface StepJob extends Readonly<Omit<JobRequestFile, 'segments'>> {
  /** Parts to regenerate. Default: the whole file. */
  readonly segments?: readonly Segment[] | undefined
}

/** Progress of a step. */
export type StepProgress = Omit<ProgressEvent, 'event'>

export interface StepOptions {
  /** Ends the step and leaves no part file. The same step again continues it. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: StepProgress) => void) | undefined
  /** Receives messages for people. Default: none. A pino instance fits. */
  readonly logger?: Logger | undefined
  /**
   * Seconds to wait for the service, counted from the call. Default: no limit. After that time the step resolves with
   * `status: 'pending'`, and the same step again collects the result. 0 submits without waiting.
   */
  readonly waitSec?: number | undefined
  /** Folder of relative paths. Default: the working folder of the process. */
  readonly cwd?: string | undefined
  /** Environment that names the service and its credentials. Default: that of the process. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Path of a configuration file, as with `--config`. */
  readonly config?: string | undefined
  /** Settings that override files and environment, as flags do: `{ profile: 'sandbox' }`. */
  readonly settings?: Flags | undefined
}
