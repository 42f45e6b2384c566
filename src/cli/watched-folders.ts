import { basename, join, resolve } from 'node:path'
import type { WatchedFolder } from 'voxmux/plugins/watch-folder'
import type { WatchFolderSettings, WatchSettings } from '../config/watch-schema.js'
import { UsageError } from '../core/errors.js'
import type { JobSettings } from '../pipeline/job-settings.js'

/** What the command line says of every folder; absent where a flag was not given. */
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

export interface WatchedFoldersOptions {
  readonly flags: FolderFlags
  readonly watch: WatchSettings
  readonly cwd: string
  /** Settings of the jobs of a folder, by the preset that it names; undefined: that of the command. */
  readonly settingsOf: (preset: string | undefined) => Promise<JobSettings>
}

/** What holds where neither flag, folder nor configuration says otherwise. */
const DEFAULTS = { settleSec: 10, patienceSec: 60, scanSec: 10, poll: false } as const

/**
 * The folders to watch: those that are named, else those of the configuration; flags over a folder's own settings over
 * those of all folders.
 *
 * @throws UsageError `ERR_USAGE` where there is none, or one is named twice
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
  if (twice) throw new UsageError('ERR_USAGE', `${twice.path} is to be watched twice.`, { input: twice.path })
  const labels = uniqueLabels(chosen.map(({ path }) => path))
  return Promise.all(chosen.map((folder, index) => watched(folder, labels[index] ?? '', options)))
}

async function watched(
  folder: WatchFolderSettings,
  label: string,
  { flags, watch, cwd, settingsOf }: WatchedFoldersOptions,
): Promise<WatchedFolder> {
  const { DEFAULT_NAME_TEMPLATE } = await import('voxmux/plugins/watch-folder')
  const { path } = folder
  const ms = (key: 'settleSec' | 'patienceSec' | 'scanSec') =>
    1000 * (flags[key] ?? folder[key] ?? watch[key] ?? DEFAULTS[key])
  const shared = (flag: string | undefined) => (flag === undefined ? undefined : join(resolve(cwd, flag), label))
  return {
    group: path,
    path,
    out: shared(flags.out) ?? folder.out ?? join(path, 'out'),
    failed: shared(flags.failed) ?? folder.failed ?? join(path, 'failed'),
    done: folder.done ?? join(path, 'done'),
    source: folder.source ?? 'keep',
    nameTemplate: folder.name ?? DEFAULT_NAME_TEMPLATE,
    filter: {
      include: folder.include ?? [],
      exclude: folder.exclude ?? [],
      marker: folder.marker ?? null,
      renamedFrom: folder.renamedFrom ?? null,
    },
    priority: folder.priority ?? 0,
    settleMs: ms('settleSec'),
    patienceMs: Math.max(ms('settleSec'), ms('patienceSec')),
    scanMs: ms('scanSec'),
    poll: flags.poll ?? folder.poll ?? watch.poll ?? DEFAULTS.poll,
    after: folder.after ?? null,
    settings: await settingsOf(folder.preset),
  }
}

/** What tells folders apart below one that they share: '' for a single one, else their names, numbered where alike. */
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
