import type { VoxmuxError } from '../core/errors.js'
import type { Stage } from './events.js'
import type { JobPlan } from './plan-job.js'
import type { Receipt } from './receipt.js'

/** What a hook is told of the job that it is called for. */
export interface JobFacts {
  /** Of the ledger; of the events until the ledger knows the job. */
  readonly id: string
  readonly group: string
  readonly preset: string
  /** Absolute path, or address without what is secret in it. */
  readonly input: string
  /** Absolute path; null while it is not decided. */
  readonly output: string | null
  /** What the order carries for its hooks; empty for a job that was not queued. */
  readonly data: Readonly<Record<string, unknown>>
  /** Fires when the job is interrupted, or another's by now: a hook that takes long heeds it. */
  readonly signal: AbortSignal
}

/** A job whose output and receipt stand in their places. */
export interface PublishedJob extends JobFacts {
  readonly output: string
  /** `skipped`: the output was there before, of this very input and recipe. */
  readonly status: 'done' | 'skipped'
  /** Null where the receipt beside an output of before cannot be read. */
  readonly receipt: Receipt | null
  readonly receiptPath: string
}

/** A job that has failed for good, or was refused. */
export interface FailedJob extends JobFacts {
  readonly status: 'failed' | 'rejected'
  readonly error: VoxmuxError
}

/** Why a job must not be done, in one sentence; nothing: go on. */
export type Veto = string | undefined

/**
 * What takes part in the life of each job: a plugin, or a front end's own aftercare. Each is called at its place and
 * waited for, `onProgress` excepted. One that throws harms only the job it was called for:
 *
 * - before anything is paid for, a throw is a veto like the reason that is returned: PrecheckError `ERR_VETOED`, with
 *   the hook's name. A VoxmuxError keeps its own meaning (a TransientError is tried again later).
 * - after the publishing or the failure it is a warning in the log, once it has been tried three times.
 *
 * `afterPublish` and `onFailure` are called at least once: the ledger says that a job has ended only when they have
 * run, and whoever takes over after a crash calls them again.
 */
export interface JobHooks {
  /** Said in errors and logs: the plugin's name. */
  readonly name: string
  beforePlan?(job: JobFacts): Promise<Veto> | Veto
  /** Called with everything decided and nothing sent. */
  afterPlan?(job: JobFacts & { readonly output: string; readonly plan: JobPlan }): Promise<Veto> | Veto
  onProgress?(job: JobFacts, stage: Stage, percent: number): void
  afterPublish?(job: PublishedJob): Promise<void> | void
  /**
   * Asked before a job fails for good: in how many milliseconds it is to be tried again, because the fault is not the
   * file's (its share is gone, its output folder is closed); nothing: it fails.
   */
  excuse?(job: FailedJob): Promise<number | undefined> | number | undefined
  onFailure?(job: FailedJob): Promise<void> | void
}
