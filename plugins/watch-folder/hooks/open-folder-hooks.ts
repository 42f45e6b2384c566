import { join } from 'node:path'
import type { Config } from '../../../src/config/resolve-config.js'
import type { Logger } from '../../../src/core/logger.js'
import type { JobFacts, JobHooks } from '../../../src/pipeline/job-hooks.js'
import { settingsOfConfig } from '../../../src/pipeline/plan/job-settings.js'
import { UsedFolders } from '../folders/used-folders.js'
import { aftercareOf } from '../intake/job-aftercare.js'
import { openSeenFiles, SEEN_FILE, type SeenMounts } from '../intake/seen-files.js'
import { watchedFolders } from '../watched-folders.js'
import { FolderHooks } from './folder-hooks.js'

/** Hooks, and how to close what they use. */
export interface OpenFolderHooks {
  readonly hooks: readonly JobHooks[]
  close(): void
}

/**
 * Opens the hooks of watched folders for a worker: failure reports, moving the source, webhook and command. A folder of
 * the configuration has what is configured. Any other has what the daemon wrote into the job, without the command.
 */
export async function openFolderHooks(config: Config, cwd: string, logger: Logger): Promise<OpenFolderHooks> {
  const settings = settingsOfConfig(config, { segments: [], previewSec: null, force: false })
  const isConfigured = (config.watch.folders ?? []).length > 0
  const folders = isConfigured
    ? await watchedFolders({
        ...{ flags: { folders: [] }, watch: config.watch, cwd },
        settingsOf: async () => settings,
      })
    : []
  const seen = openSeenFiles(join(config.stateDir, SEEN_FILE))
  const configured = new Map(folders.map((folder) => [folder.group, new UsedFolders(folder, seen)]))
  const foldersOfJob = foldersFromJobs(seen, logger)
  const foldersOf = (job: JobFacts) => configured.get(job.group) ?? foldersOfJob(job)
  const { dashboard, webhookSecret: secret = null } = config.watch
  const notices = { secret, dashboardUrl: () => dashboard?.publicUrl ?? null }
  return { hooks: [new FolderHooks({ foldersOf, notices, logger })], close: () => seen.close() }
}

/** The folders that jobs name. Jobs of one folder share them. */
function foldersFromJobs(mounts: SeenMounts, logger: Logger): (job: JobFacts) => UsedFolders | undefined {
  const known = new Map<string, UsedFolders>()
  return (job) => {
    const found = aftercareOf(job)
    if (found === null) return undefined
    const key = JSON.stringify(found)
    const before = known.get(key)
    if (before) return before
    const { path } = found.folder
    if (found.hasCommand)
      logger.warn(
        { folder: path },
        `The command of ${path} does not run here: no configuration of this worker names it.`,
      )
    const used = new UsedFolders(found.folder, mounts)
    known.set(key, used)
    return used
  }
}
