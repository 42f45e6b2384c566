import type { WatchAfter } from '../../src/config/watch-schema.js'
import type { JobSettings } from '../../src/pipeline/plan/job-settings.js'
import type { FileFilterOptions } from './candidates/file-filter.js'

/** A watched folder with nothing left open. Paths are absolute. */
export interface WatchedFolder {
  /**
   * Group of its jobs in the job store: its path, which a shared store knows by the name that all machines have for it
   * (see `paths`), so that two that watch or work for one folder mean the same.
   */
  readonly group: string
  readonly path: string
  readonly out: string
  readonly failed: string
  readonly done: string
  /** What becomes of a source once its output is published. */
  readonly source: 'keep' | 'move'
  /** See `outputOf`. */
  readonly nameTemplate: string
  readonly filter: FileFilterOptions
  readonly priority: number
  readonly settleMs: number
  readonly patienceMs: number
  readonly scanMs: number
  /** No events: scans alone. */
  readonly poll: boolean
  readonly after: WatchAfter | null
  readonly settings: JobSettings
}

/** The folders that are never scanned for sources: those that any watched folder fills, and each other's roots. */
export function closedFolders(folders: readonly WatchedFolder[], own: WatchedFolder): ReadonlySet<string> {
  const filled = folders.flatMap(({ out, failed, done }) => [out, failed, done])
  const roots = folders.map(({ path }) => path).filter((path) => path !== own.path)
  // A folder may be another's output: then it is watched all the same, as the root that it is.
  return new Set([...filled, ...roots].filter((path) => path !== own.path))
}
