import { join } from 'node:path'
import type { OutputType } from '../contract/index.js'
import { DEFAULT_SERVICE_LIMITS, type Limits } from '../precheck/limits.js'
import { checkSchema } from './check-schema.js'
import {
  absolutePaths,
  type ConfigFile,
  findProjectFile,
  readNamedFile,
  readUserFile,
  unreadModule,
} from './config-files.js'
import { type ConfiguredPlugin, configuredPlugins } from './configured-plugins.js'
import { CONFIG_VARIABLE, readEnvironment, SETTING_VARIABLES, unknownVariables } from './environment.js'
import { DEFAULT_PRESET, type LoadedPreset, loadPreset } from './load-preset.js'
import { flatten, type Layer, type Merged, mergeLayers, nest, type Origin, type SettingPath } from './merge-layers.js'
import { DEFAULT_RECIPE, DEFAULT_TRUE_PEAK_DBTP, type Recipe, recipeSchema } from './preset-schema.js'
import { type ServiceTarget, serviceTarget } from './service-target.js'
import {
  type PluginSetting,
  type ProfileName,
  type Settings,
  settingsSchema,
  type WebhookSettings,
} from './settings-schema.js'
import { defaultStateFolder } from './state-folder.js'
import { findUserFolders, type UserFolders } from './user-folders.js'
import type { WatchSettings } from './watch-schema.js'

/** Everything that is configured, complete. */
export interface Config {
  /** null: no profile was chosen; the service is what the addresses say. */
  readonly profile: ProfileName | null
  readonly service: ServiceTarget
  /** null: the end of a file is asked for. */
  readonly webhook: WebhookSettings | null
  readonly blockTypeHeader: string
  readonly preset: { readonly name: string; readonly path: string; readonly description: string }
  /** How a voice is regenerated and written: the preset, with what files, environment and flags change in it. */
  readonly recipe: Recipe
  /** Format of the output of an audio file; null: the file's own. */
  readonly outputType: OutputType | null
  readonly strict: boolean
  readonly report: boolean
  /** null: a file is sent in one part, up to the service's limit. */
  readonly chunkSec: number | null
  readonly concurrency: number
  /** The same of a worker, where nothing is configured: what waits at the service costs this machine little. */
  readonly workerConcurrency: number
  /** What is absent follows from the machine. */
  readonly stages: NonNullable<Settings['stages']>
  /** What the pre-check holds a file to; what is absent is not known. */
  readonly limits: Limits
  /** null: no limit. */
  readonly maxSecondsPerDay: number | null
  readonly cacheMaxBytes: number
  /** After so many days unused a voice is forgotten, unless something is under way for it. */
  readonly keepVoicesDays: number
  /** Absolute; null: in the state folder. */
  readonly cacheDir: string | null
  /** Absolute. It is not made before `ensureStateFolder`. */
  readonly stateDir: string
  /** Absolute; null: in the state folder. */
  readonly ledger: string | null
  readonly store: string | null
  /** Folders by their name in the store. */
  readonly paths: readonly { readonly store: string; readonly here: string }[]
  readonly ffmpeg: string | null
  readonly ffprobe: string | null
  /** In the order in which their hooks are called. */
  readonly plugins: readonly ConfiguredPlugin[]
  /** Of `voxmux watch`; paths absolute. */
  readonly watch: WatchSettings
  /** Where each setting comes from, by path. */
  readonly origins: ReadonlyMap<SettingPath, Origin>
  /** The files that were read, strongest first. */
  readonly files: readonly ConfigFile[]
  /** What a person should know: an unusual state folder, a variable that is not read. */
  readonly notes: readonly string[]
}

/** What the command line sets; absent where a flag was not given. */
export type Flags = Settings

export interface ResolveOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly flags?: Flags
  /** What `--config` names. */
  readonly configPath?: string | undefined
  /** The user's folders; found where not given. */
  readonly folders?: UserFolders
}

/** The last resort for every setting that must have a value. */
export const DEFAULT_SETTINGS = {
  ...DEFAULT_RECIPE,
  preset: DEFAULT_PRESET,
  blockTypeHeader: 'x-ms-blob-type',
  strict: false,
  report: false,
  concurrency: 2,
  cacheMaxBytes: 5 * 1024 ** 3,
  keepVoicesDays: 90,
  plugins: [] as PluginSetting[],
} satisfies Settings

/** Files that a worker has in hand. */
const WORKER_CONCURRENCY = 16

/** Flags whose names do not follow from their setting's. */
const FLAG_NAMES: Readonly<Record<SettingPath, string>> = { chunkSec: '--chunk' }

/**
 * Puts the configuration together: flag over environment over file (named or found, then the person's own) over
 * preset over default.
 *
 * @throws UsageError for every wrong key, wrong value, missing file, or a found file that sets what it may not
 */
export async function resolveConfig(options: ResolveOptions): Promise<Config> {
  const { cwd, env } = options
  const folders = options.folders ?? (await findUserFolders())
  const userPath = folders.config === null ? null : join(folders.config, 'config.json')
  const named = options.configPath ?? (env[CONFIG_VARIABLE] || undefined)
  const [first, user] = await Promise.all([
    named === undefined ? findProjectFile(cwd, userPath) : readNamedFile(named, cwd),
    readUserFile(userPath),
  ])
  const files = [first, user].filter((file) => file !== undefined)
  const above = [flagLayer(options.flags ?? {}, cwd), environmentLayer(env, cwd), ...files.map(fileLayer)]
  const preset = await loadPreset(String(mergeLayers(above).get('preset')?.value ?? DEFAULT_PRESET), cwd)
  const state = await defaultStateFolder(folders.data)
  const merged = mergeLayers([...above, presetLayer(preset), defaultLayer(state.path)])
  const module = named === undefined ? unreadModule(cwd) : undefined
  const stateNote = merged.get('stateDir')?.origin.kind === 'default' ? state.note : null
  const notes = [stateNote, module, ...unknownVariables(env)].filter((note) => typeof note === 'string')
  return { ...decided(merged, preset), files, notes }
}

function decided(merged: Merged, loaded: LoadedPreset): Omit<Config, 'files' | 'notes'> {
  const settings = nest([...merged].map(([path, { value }]) => [path, value])) as Settings & typeof DEFAULT_SETTINGS
  const profile = settings.profile ?? null
  const service = serviceTarget(merged, profile)
  const recipe = completeRecipe(settings, loaded)
  const known = service.kind === 'embedded' ? DEFAULT_SERVICE_LIMITS : {}
  return {
    profile,
    service,
    webhook: settings.webhook ?? null,
    blockTypeHeader: settings.blockTypeHeader,
    preset: { name: loaded.name, path: loaded.path, description: loaded.preset.description },
    recipe,
    outputType: settings.outputType ?? null,
    strict: settings.strict,
    report: settings.report,
    chunkSec: settings.chunkSec ?? null,
    concurrency: settings.concurrency,
    workerConcurrency: merged.get('concurrency')?.origin.kind === 'default' ? WORKER_CONCURRENCY : settings.concurrency,
    stages: settings.stages ?? {},
    limits: { ...known, ...settings.limits, requireVoice: recipe.voice.requireVoice },
    maxSecondsPerDay: settings.maxSecondsPerDay ?? null,
    cacheMaxBytes: settings.cacheMaxBytes,
    keepVoicesDays: settings.keepVoicesDays,
    cacheDir: settings.cacheDir ?? null,
    stateDir: String(settings.stateDir),
    ledger: settings.ledger ?? null,
    store: settings.store ?? null,
    paths: settings.paths ?? [],
    ffmpeg: settings.ffmpeg ?? null,
    ffprobe: settings.ffprobe ?? null,
    plugins: configuredPlugins(merged),
    watch: settings.watch ?? {},
    origins: new Map([...merged].map(([path, { origin }]) => [path, origin])),
  }
}

function completeRecipe(settings: Settings & typeof DEFAULT_SETTINGS, { path }: LoadedPreset): Recipe {
  const { voice, segments, audio, verify, keepOriginal, channels, track } = settings
  const loudness = settings.loudness && { truePeakDbtp: DEFAULT_TRUE_PEAK_DBTP, ...(settings.loudness as object) }
  return checkSchema(recipeSchema, { voice, segments, audio, loudness, verify, keepOriginal, channels, track }, path)
}

function flagLayer(flags: Flags, cwd: string): Layer {
  const origin = (path: SettingPath): Origin => ({ kind: 'flag', flag: flagName(path) })
  const settings = flatten(flags)
  for (const [path, value] of settings) checkSchema(settingsSchema, nest([[path, value]]), flagName(path))
  return { origin, settings: absolutePaths(settings, cwd) }
}

function flagName(path: SettingPath): string {
  const kebab = path.slice(path.lastIndexOf('.') + 1).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return FLAG_NAMES[path] ?? `--${kebab}`
}

function environmentLayer(env: NodeJS.ProcessEnv, cwd: string): Layer {
  const names = new Map(SETTING_VARIABLES.map(({ path, name }) => [path, name]))
  return {
    origin: (path) => ({ kind: 'env', variable: names.get(path) ?? path }),
    settings: absolutePaths(readEnvironment(env), cwd),
  }
}

function fileLayer(file: ConfigFile): Layer {
  return { origin: () => ({ kind: 'file', path: file.path }), settings: file.settings }
}

function presetLayer({ name, preset: { description: _, $schema: __, ...recipe } }: LoadedPreset): Layer {
  return { origin: () => ({ kind: 'preset', name }), settings: flatten(recipe) }
}

function defaultLayer(stateDir: string): Layer {
  return { origin: () => ({ kind: 'default' }), settings: flatten({ ...DEFAULT_SETTINGS, stateDir }) }
}
