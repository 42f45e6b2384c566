import type { JobEvent } from '../../src/pipeline/events.js'

/**
 * State of a watched folder.
 *
 * `offline`: it, or a folder that it fills, is missing or not mounted; nothing is forgotten and nothing fails.
 *
 * `paused`: its files wait until a person removes the reason.
 */
type FolderState = 'watching' | 'offline' | 'paused'

/** The present state of a watched folder. */
export interface FolderView {
  /** Group of its jobs in the job store. */
  readonly group: string
  /** Absolute, like the next three. */
  readonly path: string
  readonly out: string
  readonly failed: string
  readonly preset: string
  readonly state: FolderState
  /** Why it is offline or paused, for people; null while it is watched. */
  readonly reason: string | null
  /** `scans`: no events, by configuration or because the system has no watches left. */
  readonly noticedBy: 'events' | 'scans'
  /** Files that are not whole yet. */
  readonly waitingFiles: number
  /** End of the last scan in Unix milliseconds; null before the first. */
  readonly scannedMs: number | null
}

/** Events of the daemon: those of its jobs, those of its folders, and each queued file. */
export type DaemonEvent =
  | JobEvent
  | { readonly event: 'folder'; readonly folder: FolderView }
  | { readonly event: 'queued'; readonly id: string; readonly input: string; readonly group: string }

/** A read-only view of the daemon. Its jobs are in the job store, by group. */
export interface DaemonView {
  /** Unix milliseconds. */
  readonly startedMs: number
  readonly folders: readonly FolderView[]
  /** Calls `listener` for every event. @returns a function that stops this */
  subscribe(listener: (event: DaemonEvent) => void): () => void
}
