import type { Logger } from '../core/logger.js'
import type { JobStore, LimitsLearned } from '../jobs/index.js'
import type { Limits } from '../precheck/index.js'
import type { JobEvent, Stage } from './events.js'
import type { JobHooks } from './job-hooks.js'
import type { StageSlots } from './stage-slots.js'
import type { VoiceServiceContext } from './voice-service.js'

/** What any number of jobs share: one service, one ledger, one state folder. */
export interface PipelineContext extends VoiceServiceContext {
  readonly jobs: JobStore
  /** A path as all machines of the store write it, for keys of jobs; absent where there is one machine. */
  readonly sharedPath?: (path: string) => string
  /** What a service refused before. */
  readonly learned: LimitsLearned
  /** What the service takes, as far as it is known. */
  readonly limits: Limits
  /** Address of the service for the receipt, without anything secret. */
  readonly serviceAddress: string
  /** Cuts of jobs in work lie here, and those that did not line up. */
  readonly stateDir: string
  /** Voices of one job that are at the service at the same time. */
  readonly voiceConcurrency: number
  /** Places of this process for each kind of work. */
  readonly slots: StageSlots
  readonly logger: Logger
  /** Of the plugins: called for every job, in this order, before a front end's own. */
  readonly hooks?: readonly JobHooks[]
}

export interface JobRunOptions {
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: JobEvent) => void) | undefined
  readonly hooks?: readonly JobHooks[] | undefined
  /**
   * Unix milliseconds from when on a job leaves instead of waiting for the service or for another process
   * (PendingError `ERR_STILL_RUNNING`); undefined: it stays to the end. All that is to be sent is sent and started
   * first. With the embedded service only a job that was submitted just now leaves: nobody else would do the rest.
   */
  readonly waitUntilMs?: number | undefined
}

/** Tells how far a stage is, 0 to 100. */
export type StageProgress = (stage: Stage, percent: number) => void
