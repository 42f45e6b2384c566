import type { Flags, JobRequestFile, Logger, ProgressEvent, Segment } from 'voxmux'

/** One step of a script: a file in, a file out. What is left out is as the configuration says. */
export interface StepJob extends Readonly<Omit<JobRequestFile, 'segments'>> {
  /** Parts to regenerate; left out, the whole file. */
  readonly segments?: readonly Segment[] | undefined
}

/** How far a step is. */
export type StepProgress = Omit<ProgressEvent, 'event'>

export interface StepOptions {
  /** Ends the step; nothing is left behind, and the same step again attaches to what was begun. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: StepProgress) => void) | undefined
  /** What people should know; default nobody hears it. A pino instance fits as it is. */
  readonly logger?: Logger | undefined
  /**
   * Seconds to wait for the service, counted from the call; default to the end. When they are over, the step resolves
   * with `status: 'pending'`; the same step again collects. 0 submits and leaves.
   */
  readonly waitSec?: number | undefined
  /** Folder that relative paths count from; default the process's. */
  readonly cwd?: string | undefined
  /** Where the service and its credentials are read from; default the process's. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Path of a configuration file, as with `--config`. */
  readonly config?: string | undefined
  /** Settings over those of files and environment, as flags are: `{ profile: 'sandbox' }`. */
  readonly settings?: Flags | undefined
}
