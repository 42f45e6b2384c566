import { join } from 'node:path'
import type { OutputType } from '../contract/index.js'
import { UsageError } from '../core/errors.js'
import { DEFAULT_SERVICE_LIMITS, type Limits } from '../precheck/limits.js'
import { checkFlag, checkSchema } from './check-schema.js'
import {
  absolutePaths,
  type ConfigFile,
  findProjectFile,
  readNamedConfig,
  readUserFile,
  unreadModule,
} from './config-files.js'
import { type ConfiguredExtension, configuredExtensions } from './configured-extensions.js'
import type { CredentialsSettings } from './credentials-schema.js'
import { CONFIG_VARIABLE, readEnvironment, SETTING_VARIABLES, unknownVariables } from './environment.js'
import { DEFAULT_PRESET, type LoadedPreset, loadPreset } from './load-preset.js'
import {
  describeOrigin,
  flatten,
  type Layer,
  type Merged,
  mergeLayers,
  nest,
  type Origin,
  type SettingPath,
} from './merge-layers.js'
import { DEFAULT_RECIPE, DEFAULT_TRUE_PEAK_DBTP, type Recipe, recipeSchema } from './preset-schema.js'
import { type ServiceTarget, serviceTarget } from './service-target.js'
import {
  type ExtensionSetting,
  type ProfileName,
  type Settings,
  settingsSchema,
  type WebhookSettings,
} from './settings-schema.js'
import { defaultStateFolder, findUserFolders, type UserFolders } from './state-folder.js'
import type { WatchSettings } from './watch-schema.js'

/** The complete configuration. */
export interface Config {
  /** null: no profile was chosen, so the addresses define the service. */
  readonly profile: ProfileName | null
  readonly service: ServiceTarget
  /** null: the end of a file is polled. */
  readonly webhook: WebhookSettings | null
  /** Absolute path of the description of the embedded service's voice model; null: the embedded models. */
  readonly engine: string | null
  readonly blockTypeHeader: string
  readonly preset: { readonly name: string; readonly path: string; readonly description: string }
  /** How a voice is regenerated and written: the preset with the changes of files, environment and flags. */
  readonly recipe: Recipe
  /** Output format of an audio file; null: the file's own. */
  readonly outputType: OutputType | null
  readonly strict: boolean
  readonly report: boolean
  /** How outputs are signed, with absolute paths; null: they are not. */
  readonly credentials: CredentialsSettings | null
  /** null: a file is sent in one part, up to the service's limit. */
  readonly chunkSec: number | null
  readonly concurrency: number
  /** Concurrency of a worker. Its default is higher, because a voice at the service costs this machine little. */
  readonly workerConcurrency: number
  /** Absent values depend on the machine. */
  readonly stages: NonNullable<Settings['stages']>
  /** Limits of the pre-check. Absent ones are unknown. */
  readonly limits: Limits
  /** null: no limit. */
  readonly maxSecondsPerDay: number | null
  readonly cacheMaxBytes: number
  /** Days after which an unused voice is forgotten, unless a job still uses it. */
  readonly keepVoicesDays: number
  /** Absolute; null: in the state folder. */
  readonly cacheDir: string | null
  /** Absolute. `ensureStateFolder` creates it. */
  readonly stateDir: string
  /** Absolute; null: in the state folder. */
  readonly ledger: string | null
  readonly store: string | null
  /** Folders by their name in the store. */
  readonly paths: readonly { readonly store: string; readonly here: string }[]
  readonly ffmpeg: string | null
  readonly ffprobe: string | null
  /** In the order of their hooks. */
  readonly extensions: readonly ConfiguredExtension[]
  /** Settings of `voxmux watch`, with absolute paths. */
  readonly watch: WatchSettings
  /** Origin of each setting, by path. */
  readonly origins: ReadonlyMap<SettingPath, Origin>
  /** The files that were read, strongest first. */
  readonly files: readonly ConfigFile[]
  /** Notes for the user: an unusual state folder, an unknown variable. */
  readonly notes: readonly string[]
}

/** Settings from the command line. Absent if a flag was not given. */
export type Flags = Settings

export interface ResolveOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly flags?: Flags
  /** Value of `--config`. */
  readonly configPath?: string | undefined
  /** The user's folders. Default: those of the system. */
  readonly folders?: UserFolders
}

/** Defaults of all settings that need a value. */
export const DEFAULT_SETTINGS = {
  ...DEFAULT_RECIPE,
  preset: DEFAULT_PRESET,
  blockTypeHeader: 'x-ms-blob-type',
  strict: false,
  report: false,
  concurrency: 2,
  cacheMaxBytes: 5 * 1024 ** 3,
  keepVoicesDays: 90,
  extensions: [] as ExtensionSetting[],
} satisfies Settings

/** Default number of files that a worker processes at a time. */
const WORKER_CONCURRENCY = 16

/** Flags whose names differ from their setting's. */
const FLAG_NAMES: Readonly<Record<SettingPath, string>> = { chunkSec: '--chunk' }

/**
 * Builds the configuration. Precedence: flag, environment, file (named or found, then the user's own), preset, default.
 *
 * @throws {UsageError} for every wrong key, wrong value, missing file, or a found file with a setting that it may not
 * have
 */
export async function resolveConfig(options: ResolveOptions): Promise<Config> {
  const { cwd, env } = options
  const folders = options.folders ?? (await findUserFolders())
  const userPath = folders.config === null ? null : join(folders.config, 'config.json')
  const named = options.configPath ?? (env[CONFIG_VARIABLE] || undefined)
  const [first, user] = await Promise.all([
    named === undefined ? findProjectFile(cwd, userPath) : readNamedConfig(named, cwd),
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
  if (recipe.keepOriginal && recipe.addTrack) throw bothTracks(merged)
  const known = service.kind === 'embedded' ? DEFAULT_SERVICE_LIMITS : {}
  return {
    profile,
    service,
    webhook: settings.webhook ?? null,
    engine: settings.engine ?? null,
    blockTypeHeader: settings.blockTypeHeader,
    preset: { name: loaded.name, path: loaded.path, description: loaded.preset.description },
    recipe,
    outputType: settings.outputType ?? null,
    strict: settings.strict,
    report: settings.report,
    credentials: settings.credentials ?? null,
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
    extensions: configuredExtensions(merged),
    watch: settings.watch ?? {},
    origins: new Map([...merged].map(([path, { origin }]) => [path, origin])),
  }
}

function completeRecipe(settings: Settings & typeof DEFAULT_SETTINGS, { path }: LoadedPreset): Recipe {
  const own = Object.fromEntries(recipeSchema.keyof().options.map((key) => [key, settings[key]]))
  const loudness = settings.loudness && { truePeakDbtp: DEFAULT_TRUE_PEAK_DBTP, ...(settings.loudness as object) }
  return checkSchema(recipeSchema, { ...own, loudness }, path)
}

function bothTracks(merged: Merged): UsageError {
  const [keep, add] = ['keepOriginal', 'addTrack'].map((path) => {
    const found = merged.get(path)
    return `${path} (${found && describeOrigin(found.origin)})`
  })
  return new UsageError('ERR_CONFIG_VALUE', `${keep} puts the original second, and ${add} keeps it first.`, {
    remedies: ['Leave one of the two out.'],
  })
}

function flagLayer(flags: Flags, cwd: string): Layer {
  const origin = (path: SettingPath): Origin => ({ kind: 'flag', flag: flagName(path) })
  const settings = flatten(flags)
  for (const [path, value] of settings) checkFlag(settingsSchema, nest([[path, value]]), flagName(path))
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
