import type { VoxmuxError } from '../core/errors.js'
import type { Stage } from './events.js'
import type { Receipt } from './output/receipt.js'
import type { JobPlan } from './plan/plan-job.js'

/** The facts about a job that a hook gets. */
export interface JobFacts {
  /** The ledger's id. Before the ledger has the job, the id of its events. */
  readonly id: string
  readonly group: string
  readonly preset: string
  /** Absolute path, or address without secrets. */
  readonly input: string
  /** Absolute path; null until it is decided. */
  readonly output: string | null
  /** The queued job's data for its hooks. Empty for a job that was not queued. */
  readonly data: Readonly<Record<string, unknown>>
  /** Fires when the job is interrupted or another process takes it over. A slow hook must obey it. */
  readonly signal: AbortSignal
}

/** A job whose output and receipt are published. */
export interface PublishedJob extends JobFacts {
  readonly output: string
  /** `skipped`: the output of this input and recipe already existed. */
  readonly status: 'done' | 'skipped'
  /** Null if the receipt beside an existing output is unreadable. */
  readonly receipt: Receipt | null
  readonly receiptPath: string
}

/** A job that has failed for good or was rejected. */
export interface FailedJob extends JobFacts {
  readonly status: 'failed' | 'rejected'
  readonly error: VoxmuxError
}

/** The reason, in one sentence, why a job must not run. Undefined continues. */
export type Veto = string | undefined

/**
 * Hooks in the life of each job: those of an extension, or a front end's own. Each hook is awaited, except
 * `onProgress`. A hook that throws affects only its own job:
 *
 * - Before anything is paid for, a throw is a veto, like a returned reason: PrecheckError `ERR_VETOED` with the hook's
 * name. A VoxmuxError keeps its own meaning: a TransientError is retried later.
 * - After publishing or failure, a throw becomes a warning in the log after three tries.
 *
 * `afterPublish` and `onFailure` run at least once. The ledger marks a job as ended only after they have run, so the
 * process that takes over after a crash calls them again.
 */
export interface JobHooks {
  /** The extension's name, for errors and logs. */
  readonly name: string
  beforePlan?(job: JobFacts): Promise<Veto> | Veto
  /** Called when everything is decided and nothing is sent. */
  afterPlan?(job: JobFacts & { readonly output: string; readonly plan: JobPlan }): Promise<Veto> | Veto
  onProgress?(job: JobFacts, stage: Stage, percent: number): void
  afterPublish?(job: PublishedJob): Promise<void> | void
  /**
   * Called before a job fails for good. Returns the milliseconds to the next try if the fault is not the file's (its
   * share is away, its output folder is closed). Undefined lets the job fail.
   */
  excuse?(job: FailedJob): Promise<number | undefined> | number | undefined
  onFailure?(job: FailedJob): Promise<void> | void
}
