import { join } from 'node:path'
import type { Config } from '../../../src/config/resolve-config.js'
import type { Logger } from '../../../src/core/logger.js'
import type { JobHooks } from '../../../src/pipeline/job-hooks.js'
import { settingsOfConfig } from '../../../src/pipeline/plan/job-settings.js'
import { openSeenFiles, SEEN_FILE } from '../intake/seen-files.js'
import { FolderPlaces } from '../places/folder-places.js'
import { watchedFolders } from '../watched-folders.js'
import { folderHooks } from './folder-hooks.js'

/** Hooks, and how to close what they use. */
export interface OpenFolderHooks {
  readonly hooks: readonly JobHooks[]
  close(): void
}

/**
 * Opens the hooks of the configured watched folders: failure reports, moving the source, and the command to run after.
 * A worker needs them if a daemon on another machine queued the files.
 */
export async function openFolderHooks(config: Config, cwd: string, logger: Logger): Promise<OpenFolderHooks> {
  const settings = settingsOfConfig(config, { segments: [], previewSec: null, force: false })
  const folders = await watchedFolders({
    ...{ flags: { folders: [] }, watch: config.watch, cwd },
    settingsOf: async () => settings,
  })
  const seen = openSeenFiles(join(config.stateDir, SEEN_FILE))
  const places = new Map(folders.map((folder) => [folder.group, new FolderPlaces(folder, seen)]))
  return { hooks: [folderHooks({ placesOf: (group) => places.get(group), logger })], close: () => seen.close() }
}
