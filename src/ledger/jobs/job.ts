import type { ErrorReport } from '../../core/errors.js'

/**
 * Status of a job. The last four are ends. `waiting-remote`: the service is processing it. `skipped`: done before and
 * unchanged. `rejected`: refused before anything was sent.
 */
export const JOB_STATUSES = ['queued', 'working', 'waiting-remote', 'done', 'skipped', 'rejected', 'failed'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** Identifies one version of a file. */
export interface FileIdentity {
  readonly sizeBytes: number
  readonly mtimeMs: number
  /** SHA-256 of the whole content, lower-case hex; null until it is read. */
  readonly sha256: string | null
}

/** Checkpoints of the worker: plain JSON, opaque to the store. */
export type JobState = Readonly<Record<string, unknown>>

/** A request for one output from one input. */
export interface JobRequest {
  /** Two requests with the same key are one job. */
  readonly key: string
  /** Groups take turns and can be paused: a watch folder, or the owner at the service. */
  readonly group: string
  /** Higher numbers go first; default 0. An integer. */
  readonly priority?: number
  /** `claimNext` skips the job before this time (Unix milliseconds). */
  readonly notBeforeMs?: number | null
  /** Path or address of the input. */
  readonly input: string
  readonly inputIdentity?: FileIdentity | null
  /** Path of the output; null until it is decided. */
  readonly output?: string | null
  /** Hash of everything but the input that determines the output; '' if there is none. */
  readonly recipeHash?: string
  readonly preset?: string | null
  readonly state?: JobState
}

/** A stored job. */
export interface Job extends Required<JobRequest> {
  /** Sortable by time of creation, unique over processes and machines. */
  readonly id: string
  readonly status: JobStatus
  /** Number of claims, including those that ended in a crash. */
  readonly attempts: number
  /** The last failure, also while the job waits for its retry. */
  readonly error: ErrorReport | null
  readonly receipt: string | null
  /** SHA-256 of the part file, written *before* it is published, so that an output can be identified after a crash. */
  readonly publishedSha256: string | null
  readonly createdMs: number
  readonly updatedMs: number
  /** The process that runs it now. */
  readonly holder: { readonly host: string; readonly pid: number } | null
}

const IS_FINAL: Readonly<Record<JobStatus, boolean>> = {
  ...{ queued: false, working: false, 'waiting-remote': false },
  ...{ done: true, skipped: true, rejected: true, failed: true },
}

/** True for the four final statuses. */
export function isEnded(status: JobStatus): boolean {
  return IS_FINAL[status]
}
