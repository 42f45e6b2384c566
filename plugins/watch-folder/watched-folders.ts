import { basename, join, resolve } from 'node:path'
import { WATCH_DEFAULTS, type WatchFolderSettings, type WatchSettings } from '../../src/config/watch-schema.js'
import { UsageError } from '../../src/core/errors.js'
import type { JobSettings } from '../../src/pipeline/plan/job-settings.js'
import type { WatchedFolder } from './watched-folder.js'

/** The folder settings of the command line; absent without the flag. */
export interface FolderFlags {
  /** As typed. */
  readonly folders: readonly string[]
  readonly out?: string | undefined
  readonly failed?: string | undefined
  readonly settleSec?: number | undefined
  readonly patienceSec?: number | undefined
  readonly scanSec?: number | undefined
  readonly poll?: boolean | undefined
}

interface WatchedFoldersOptions {
  readonly flags: FolderFlags
  readonly watch: WatchSettings
  readonly cwd: string
  /** Settings of the jobs of a folder. The command has those that the folder leaves out. */
  readonly settingsOf: (
    folder: Pick<WatchFolderSettings, 'preset' | 'onlyNoisy' | 'skipClean' | 'qc' | 'addTrack'>,
  ) => Promise<JobSettings>
}

/**
 * The folders to watch: those on the command line, otherwise those of the configuration. Flags win over a folder's own
 * settings, and these over those of all folders.
 *
 * @throws {UsageError} `ERR_USAGE` if there is none, or one is named twice
 */
export async function watchedFolders(options: WatchedFoldersOptions): Promise<readonly WatchedFolder[]> {
  const { flags, watch, cwd } = options
  const configured = watch.folders ?? []
  const named = flags.folders.map((folder) => resolve(cwd, folder))
  const chosen =
    named.length === 0 ? configured : named.map((path) => configured.find((one) => one.path === path) ?? { path })
  if (chosen.length === 0)
    throw new UsageError('ERR_USAGE', 'Which folder? None is named, and none is configured.', {
      remedies: ['Name one: `voxmux watch ./in`', 'or list them under "watch" in the configuration.'],
    })
  const twice = chosen.find(({ path }, index) => chosen.findIndex((other) => other.path === path) !== index)
  if (twice)
    throw new UsageError('ERR_USAGE', `The folder ${twice.path} is listed twice.`, {
      input: twice.path,
      remedies: ['Name it once.'],
    })
  const labels = uniqueLabels(chosen.map(({ path }) => path))
  return Promise.all(chosen.map((folder, index) => watched(folder, labels[index] ?? '', options)))
}

async function watched(
  folder: WatchFolderSettings,
  label: string,
  { flags, watch, cwd, settingsOf }: WatchedFoldersOptions,
): Promise<WatchedFolder> {
  const { path } = folder
  const ms = (key: 'settleSec' | 'patienceSec' | 'scanSec') =>
    1000 * (flags[key] ?? folder[key] ?? watch[key] ?? WATCH_DEFAULTS[key])
  const shared = (flag: string | undefined) => (flag === undefined ? undefined : join(resolve(cwd, flag), label))
  return {
    group: path,
    path,
    out: shared(flags.out) ?? folder.out ?? join(path, WATCH_DEFAULTS.out),
    failed: shared(flags.failed) ?? folder.failed ?? join(path, WATCH_DEFAULTS.failed),
    done: folder.done ?? join(path, WATCH_DEFAULTS.done),
    source: folder.source ?? WATCH_DEFAULTS.source,
    nameTemplate: folder.name ?? WATCH_DEFAULTS.name,
    filter: {
      include: folder.include ?? [],
      exclude: folder.exclude ?? [],
      marker: folder.marker ?? null,
      renamedFrom: folder.renamedFrom ?? null,
    },
    priority: folder.priority ?? WATCH_DEFAULTS.priority,
    settleMs: ms('settleSec'),
    patienceMs: Math.max(ms('settleSec'), ms('patienceSec')),
    scanMs: ms('scanSec'),
    poll: flags.poll ?? folder.poll ?? watch.poll ?? WATCH_DEFAULTS.poll,
    after: folder.after ?? null,
    settings: await settingsOf(folder),
  }
}

/** Labels of folders below a shared one: '' for a single folder, otherwise their names, numbered if equal. */
function uniqueLabels(paths: readonly string[]): readonly string[] {
  if (paths.length === 1) return ['']
  const counts = new Map<string, number>()
  return paths.map((path) => {
    const name = basename(path)
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count === 1 ? name : `${name}-${count}`
  })
}
