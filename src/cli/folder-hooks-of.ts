import type { Config } from '../config/resolve-config.js'
import type { Logger } from '../core/logger.js'
import type { JobHooks } from '../pipeline/job-hooks.js'
import { jobSettingsOf } from './job-settings-of.js'
import { watchedFolders } from './watched-folders.js'

/**
 * What the watched folders of the configuration add to their jobs, for a worker that does what a daemon elsewhere only
 * took in: reports of failures, moving the source, the command to run after.
 */
export async function folderHooksOf(config: Config, cwd: string, logger: Logger): Promise<readonly JobHooks[]> {
  if ((config.watch.folders ?? []).length === 0) return []
  const { folderHooks } = await import('voxmux/plugins/watch-folder')
  const folders = await watchedFolders({
    ...{ flags: { folders: [] }, watch: config.watch, cwd },
    settingsOf: () => jobSettingsOf(config, {}, cwd),
  })
  const byGroup = new Map(folders.map((folder) => [folder.group, folder]))
  return [folderHooks({ folderOf: (group) => byGroup.get(group), knownDev: () => null, logger })]
}
