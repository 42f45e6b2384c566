import type { Logger } from '../core/logger.js'
import type { Credentials } from '../credentials/index.js'
import type { JobStore, LimitsLearned } from '../ledger/index.js'
import type { Limits } from '../precheck/index.js'
import type { JobEvent, Stage } from './events.js'
import type { JobHooks } from './job-hooks.js'
import type { StageSlots } from './stage-slots.js'
import type { VoiceServiceContext } from './voice/voice-service.js'

/** The parts that all jobs share: one service, one ledger, one state folder. */
export interface PipelineContext extends VoiceServiceContext {
  readonly jobs: JobStore
  /** The path as all machines of the store write it, for job keys. Absent on a single machine. */
  readonly sharedPath?: ((path: string) => string) | undefined
  /** The refusals of services in earlier jobs. */
  readonly learned: LimitsLearned
  /** The known limits of the service. */
  readonly limits: Limits
  /** Address of the service for the receipt, without secrets. */
  readonly serviceAddress: string
  /** Folder for the cuts of running jobs, and for cuts that did not line up. */
  readonly stateDir: string
  /** Number of voices of one job that are at the service at the same time. */
  readonly voiceConcurrency: number
  /** Slots of this process for each kind of stage. */
  readonly slots: StageSlots
  readonly logger: Logger
  /** Signs the outputs of jobs that want it. Absent if none are configured. */
  readonly credentials?: Credentials | undefined
  /** Hooks of the extensions. Every job calls them in this order, before a front end's own. */
  readonly hooks?: readonly JobHooks[]
}

export interface JobRunOptions {
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: JobEvent) => void) | undefined
  readonly hooks?: readonly JobHooks[] | undefined
  /**
   * Unix milliseconds after which a job stops waiting for the service or for another process (PendingError
   * `ERR_STILL_RUNNING`). Undefined waits to the end. The job sends and starts everything before it leaves. With the
   * embedded service only a job that was just submitted leaves, because no other process would do the rest.
   */
  readonly waitUntilMs?: number | undefined
}

/** Reports the progress of a stage, 0 to 100. */
export type StageProgress = (stage: Stage, percent: number) => void

/**
 * Percent of a stage while ffmpeg runs. Below 100: the times of ffmpeg can pass the end of the file, and the stage reports
 * its end itself.
 */
export function percentBeforeEnd(sec: number, durationSec: number | null): number {
  return durationSec ? Math.min(99, (100 * sec) / durationSec) : 0
}
