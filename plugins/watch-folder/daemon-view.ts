import type { JobEvent } from '../../src/pipeline/events.js'
import type { WatchedFolder } from './watched-folder.js'

/** The present state of a watched folder. */
export interface FolderView extends Pick<WatchedFolder, 'group' | 'path' | 'out' | 'failed'> {
  readonly preset: string
  /** `offline`: it, or a folder that it fills, is missing or not mounted; nothing is forgotten and nothing fails. */
  readonly state: 'watching' | 'offline'
  /** Why it is offline, for people; null while it is watched. */
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
  readonly folders: readonly FolderView[]
  /** Calls `listener` for every event. @returns a function that stops this */
  subscribe(listener: (event: DaemonEvent) => void): () => void
}
