import type { WatchAfter } from '../../src/config/watch-schema.js'
import type { JobSettings } from '../../src/pipeline/plan/job-settings.js'
import type { FileFilterOptions } from './candidates/file-filter.js'

/** A watched folder with all settings decided. Paths are absolute. */
export interface WatchedFolder {
  /** Group of its jobs in the job store: its path, which a shared store translates for each machine (see `paths`). */
  readonly group: string
  readonly path: string
  readonly out: string
  readonly failed: string
  readonly done: string
  /** The treatment of a source after its output is published. */
  readonly source: 'keep' | 'move'
  /** See `outputByTemplate`. */
  readonly nameTemplate: string
  readonly filter: FileFilterOptions
  readonly priority: number
  readonly settleMs: number
  readonly patienceMs: number
  readonly scanMs: number
  /** True for scans without events. */
  readonly poll: boolean
  readonly after: WatchAfter | null
  readonly settings: JobSettings
}

/** The settings of a folder that decide what becomes of a file after its job. */
export type Aftercare = Pick<WatchedFolder, 'group' | 'path' | 'out' | 'failed' | 'done' | 'source' | 'after'> & {
  readonly filter?: Pick<FileFilterOptions, 'marker'>
}

/** The folders that are never scanned for sources: those that watched folders fill, and other watched folders. */
export function closedFolders(folders: readonly WatchedFolder[], own: WatchedFolder): ReadonlySet<string> {
  const filled = folders.flatMap(({ out, failed, done }) => [out, failed, done])
  const roots = folders.map(({ path }) => path).filter((path) => path !== own.path)
  // A folder may be another's output. It is still watched.
  return new Set([...filled, ...roots].filter((path) => path !== own.path))
}
