import type { JobEvent } from '../../src/pipeline/events.js'

/**
 * What a watched folder is doing. `offline`: it, or a folder that it fills, is not there or not mounted; nothing is
 * forgotten and nothing fails. `paused`: its files stay where they are until somebody mends what the reason says.
 */
export type FolderState = 'watching' | 'offline' | 'paused'

/** A watched folder as it stands now. */
export interface FolderView {
  /** Group of its jobs in the job store. */
  readonly group: string
  /** Absolute, as the next three. */
  readonly path: string
  readonly out: string
  readonly failed: string
  readonly preset: string
  readonly state: FolderState
  /** Why it is offline or paused, for people; null while it is watched. */
  readonly reason: string | null
  /** `scans`: no events, because it was asked for, or because the system had no watches left. */
  readonly noticedBy: 'events' | 'scans'
  /** Files that are there and not whole yet. */
  readonly waitingFiles: number
  /** Files that stayed unreadable past the patience, and were reported. */
  readonly unreadableFiles: number
  /** When the last scan ended, Unix milliseconds; null before the first. */
  readonly scannedMs: number | null
}

/** What the daemon tells while it runs: the events of its jobs, those of its folders, and each file it takes. */
export type DaemonEvent =
  | JobEvent
  | { readonly event: 'folder'; readonly folder: FolderView }
  | { readonly event: 'queued'; readonly id: string; readonly input: string; readonly group: string }

/** The daemon as others may see it: read only. Jobs themselves are in the job store, by group. */
export interface DaemonView {
  /** Unix milliseconds. */
  readonly startedMs: number
  readonly folders: readonly FolderView[]
  /** Calls `listener` for every event from now on. @returns how to end that */
  subscribe(listener: (event: DaemonEvent) => void): () => void
}
