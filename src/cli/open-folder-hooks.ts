import { join } from 'node:path'
import type { Config } from '../config/resolve-config.js'
import type { Logger } from '../core/logger.js'
import { openSeenFiles } from '../jobs/index.js'
import type { JobHooks } from '../pipeline/job-hooks.js'
import { jobSettingsOf } from './job-settings-of.js'
import { watchedFolders } from './watched-folders.js'

/** File in the state folder of what was seen in watched folders. */
export const SEEN_FILE = 'watch.sqlite'

/** Hooks, and how to end what they keep. */
export interface OpenFolderHooks {
  readonly hooks: readonly JobHooks[]
  close(): void
}

/**
 * What the watched folders of the configuration add to their jobs, for a worker that does what a daemon elsewhere only
 * took in: reports of failures, moving the source, the command to run after.
 */
export async function openFolderHooks(config: Config, cwd: string, logger: Logger): Promise<OpenFolderHooks> {
  if ((config.watch.folders ?? []).length === 0) return { hooks: [], close: () => {} }
  const { FolderPlaces, folderHooks } = await import('voxmux/plugins/watch-folder')
  const folders = await watchedFolders({
    ...{ flags: { folders: [] }, watch: config.watch, cwd },
    settingsOf: () => jobSettingsOf(config, {}, cwd),
  })
  const seen = openSeenFiles(join(config.stateDir, SEEN_FILE))
  const places = new Map(folders.map((folder) => [folder.group, new FolderPlaces(folder, seen)]))
  return { hooks: [folderHooks({ placesOf: (group) => places.get(group), logger })], close: () => seen.close() }
}
