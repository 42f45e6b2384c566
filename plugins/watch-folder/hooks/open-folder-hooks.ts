import { join } from 'node:path'
import type { Config } from '../../../src/config/resolve-config.js'
import type { Logger } from '../../../src/core/logger.js'
import type { JobHooks } from '../../../src/pipeline/job-hooks.js'
import { settingsOfConfig } from '../../../src/pipeline/plan/job-settings.js'
import { openSeenFiles, SEEN_FILE } from '../intake/seen-files.js'
import { FolderPlaces } from '../places/folder-places.js'
import { watchedFolders } from '../watched-folders.js'
import { folderHooks } from './folder-hooks.js'

/** Hooks, and how to end what they keep. */
export interface OpenFolderHooks {
  readonly hooks: readonly JobHooks[]
  close(): void
}

/**
 * The hooks that the watched folders of the configuration add to their jobs, for a worker whose files a daemon on
 * another machine took in: reports of failures, moving the source, the command to run after.
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
