import type { ErrorReport } from '../core/errors.js'

/**
 * Where a job stands. `waiting-remote` is work that goes on at the service; the last four are ends.
 * `skipped`: done before and unchanged. `rejected`: refused before anything was sent.
 */
export const JOB_STATUSES = ['queued', 'working', 'waiting-remote', 'done', 'skipped', 'rejected', 'failed'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** What tells one version of a file from the next. */
export interface FileIdentity {
  readonly sizeBytes: number
  readonly mtimeMs: number
  /** Of the whole content, lower-case hex; null while nobody has read it. */
  readonly sha256: string | null
}

/** Checkpoints of whoever works on the job: plain JSON, opaque to the store. */
export type JobState = Readonly<Record<string, unknown>>

/** What is asked for: one file in, one file out. */
export interface JobRequest {
  /** Two requests of one key are one job. */
  readonly key: string
  /** Groups take turns and can be paused: a watch folder, or the owner at the service. */
  readonly group: string
  /** Higher is sooner; default 0. An integer. */
  readonly priority?: number
  /** Not to be claimed as the next before this time (Unix milliseconds). */
  readonly notBeforeMs?: number | null
  /** Path or address of the input. */
  readonly input: string
  readonly inputIdentity?: FileIdentity | null
  /** Path of the output, null while it is not decided. */
  readonly output?: string | null
  /** Hash of everything but the input that decides the output; '' where the work has none. */
  readonly recipeHash?: string
  readonly preset?: string | null
  readonly state?: JobState
}

/** A job as it is stored. */
export interface Job extends Required<JobRequest> {
  /** Sortable by time of creation, unique over processes and machines. */
  readonly id: string
  readonly status: JobStatus
  /** How often it was claimed, crashes included. */
  readonly attempts: number
  /** Of the last failure, also while the job waits for its next try. */
  readonly error: ErrorReport | null
  /** Path of the receipt. */
  readonly receipt: string | null
  /** SHA-256 of the part file, written *before* it is published: an output found after a crash is then known. */
  readonly publishedSha256: string | null
  readonly createdMs: number
  readonly updatedMs: number
  /** Who works on it now. */
  readonly holder: { readonly host: string; readonly pid: number } | null
}

/** True for the four statuses that no worker changes any more. */
export function isEnded(status: JobStatus): boolean {
  switch (status) {
    case 'queued':
    case 'working':
    case 'waiting-remote':
      return false
    case 'done':
    case 'skipped':
    case 'rejected':
    case 'failed':
      return true
    default:
      return status satisfies never
  }
}
