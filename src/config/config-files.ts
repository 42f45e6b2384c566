import { existsSync } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname, extname, join, parse, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { lilconfig } from 'lilconfig'
import { thrownMessage, UsageError } from '../core/errors.js'
import { shellWord } from '../core/shell-word.js'
import { unreadableFile } from '../core/unreadable-file.js'
import { checkSchema } from './check-schema.js'
import { flatten, type SettingPath } from './merge-layers.js'
import { parseJson, readJsonFile } from './read-json-file.js'
import { type ExtensionSetting, type Settings, settingsSchema } from './settings-schema.js'
import { pathsWithin, refuseTrustedOnly } from './trust.js'
import type { WatchFolderSettings } from './watch-schema.js'

/** Name of the configuration file, which is searched from the working folder upwards. */
const CONFIG_FILE_NAME = 'voxmux.config.json'

/** A configuration file after reading. */
export interface ConfigFile {
  readonly path: string
  /** `named` by --config or VOXMUX_CONFIG, `found` from the working folder upwards, or `user`: the user's own. */
  readonly kind: 'named' | 'found' | 'user'
  /** Relative paths are resolved from the file's folder. */
  readonly settings: ReadonlyMap<SettingPath, unknown>
}

/** Reads the file of `--config`: JSON, or an ES module whose default export is the configuration. */
export async function readNamedConfig(path: string, cwd: string): Promise<ConfigFile> {
  const absolute = resolve(cwd, path)
  switch (extname(absolute)) {
    case '.json':
      return configFile('named', absolute, await readJsonFile(absolute))
    case '.mjs':
      return configFile('named', absolute, await importDefault(absolute))
    default:
      throw new UsageError('ERR_CONFIG_MISSING', `${absolute} is neither a .json nor a .mjs file.`, {
        input: absolute,
        remedies: ['Name a configuration of one of these kinds. `voxmux init` writes one as JSON.'],
      })
  }
}

/** A configuration is far smaller. */
const MOST_BYTES = 16 * 1024 ** 2

/** Searches {@link CONFIG_FILE_NAME} upwards. Refuses addresses, commands and extensions in it. */
export async function findProjectFile(cwd: string, userFile: string | null): Promise<ConfigFile | undefined> {
  await requirePlainFile(cwd)
  const searcher = lilconfig('voxmux', {
    searchPlaces: [CONFIG_FILE_NAME],
    stopDir: parse(cwd).root,
    loaders: { '.json': (path, content) => parseJson(content, path) },
    ignoreEmptySearchPlaces: false,
    cache: false,
  })
  const found = await searcher.search(cwd)
  if (!found) return undefined
  const file = configFile('found', found.filepath, found.isEmpty ? parseJson('', found.filepath) : found.config)
  refuseTrustedOnly(file.path, pathsWithin(file.settings), userFile)
  return file
}

/**
 * Requires that the first file of that name upwards is one. Anybody may have put it there: a pipe would hold up every
 * command below it, and a device fill the memory.
 *
 * @throws {UsageError} `ERR_CONFIG_MISSING`
 */
async function requirePlainFile(folder: string): Promise<void> {
  const path = join(folder, CONFIG_FILE_NAME)
  const found = await stat(path).catch(() => undefined)
  if (found === undefined && dirname(folder) !== folder) return requirePlainFile(dirname(folder))
  if (found === undefined || (found.isFile() && found.size <= MOST_BYTES)) return
  const what = found.isFile() ? 'is larger than any configuration' : 'is not a file'
  throw new UsageError('ERR_CONFIG_MISSING', `${path} ${what}, so voxmux did not open it.`, {
    input: path,
    remedies: ['Remove it, or name another configuration with --config.'],
  })
}

/** Reads the user's own configuration, if it exists. */
export async function readUserFile(path: string | null): Promise<ConfigFile | undefined> {
  return path !== null && existsSync(path) ? configFile('user', path, await readJsonFile(path)) : undefined
}

/** Resolves the paths among some settings. */
export function absolutePaths(
  settings: ReadonlyMap<SettingPath, unknown>,
  folder: string,
): ReadonlyMap<SettingPath, unknown> {
  return new Map([...settings].map(([path, value]) => [path, absoluteSetting(path, value, folder)]))
}

/** Settings that are paths even if they are a bare name. */
const ALWAYS_PATHS: ReadonlySet<SettingPath> = new Set([
  ...['stateDir', 'ledger', 'cacheDir', 'engine', 'credentials.cert', 'credentials.key'],
])

function absoluteSetting(path: SettingPath, value: unknown, folder: string): unknown {
  if (path === 'extensions') return (value as Settings['extensions'])?.map((extension) => fromFolder(extension, folder))
  if (path === 'watch.folders')
    return (value as WatchFolderSettings[]).map((watched) => absoluteFolder(watched, folder))
  if (typeof value !== 'string') return value
  if (ALWAYS_PATHS.has(path)) return place(path, value, folder)
  // A bare name is not a path: a program is searched in PATH, a preset among the built-in ones.
  const isPath = /[\\/]/.test(value) || (path === 'preset' && value.endsWith('.json'))
  return isPath && ['ffmpeg', 'ffprobe', 'preset'].includes(path) ? place(path, value, folder) : value
}

/** Resolves a path. A ~ would make a folder of that name. @throws {UsageError} `ERR_CONFIG_VALUE` */
function place(key: string, value: string, folder: string): string {
  if (!/^~(?:$|[\\/])/.test(value)) return resolve(folder, value)
  throw new UsageError('ERR_CONFIG_VALUE', `"${key}" is ${value}, and only a shell replaces the ~.`, {
    remedies: ['Write the path in full, for example /home/NAME/voxmux. A folder that is called ~ is ./~.'],
  })
}

/** Resolves the paths of a watched folder. Its own folders are relative to it. */
function absoluteFolder(watched: WatchFolderSettings, folder: string): WatchFolderSettings {
  const path = place('watch.folders[].path', watched.path, folder)
  const below = (['out', 'failed', 'done'] as const).flatMap((key) => {
    const value = watched[key]
    return value === undefined ? [] : [[key, place(`watch.folders[].${key}`, value, path)] as const]
  })
  const preset =
    watched.preset === undefined ? {} : { preset: String(absoluteSetting('preset', watched.preset, folder)) }
  return { ...watched, path, ...Object.fromEntries(below), ...preset }
}

function fromFolder(extension: ExtensionSetting, folder: string): ExtensionSetting {
  if (typeof extension !== 'string') return [absoluteModule(extension[0], folder), extension[1]]
  return absoluteModule(extension, folder)
}

function absoluteModule(module: string, folder: string): string {
  return module.startsWith('.') ? resolve(folder, module) : module
}

function configFile(kind: ConfigFile['kind'], path: string, content: unknown): ConfigFile {
  const read = checkSchema(settingsSchema, content, path)
  const settings = flatten(read)
  return { path, kind, settings: absolutePaths(settings, dirname(path)) }
}

async function importDefault(path: string): Promise<unknown> {
  await access(path).catch((cause: unknown) => {
    throw unreadableFile('ERR_CONFIG_MISSING', path, cause)
  })
  try {
    return ((await import(pathToFileURL(path).href)) as { default?: unknown }).default
  } catch (cause) {
    const message = thrownMessage(cause)
    throw new UsageError('ERR_CONFIG_SYNTAX', `${path} cannot be loaded: ${message}.`, {
      cause,
      input: path,
      remedies: [`Correct the module. \`node ${shellWord(path)}\` shows the line of the fault.`],
    })
  }
}

/** Reports a configuration module in the working folder. It is a program, so it is never run unasked. */
export function unreadModule(cwd: string): string | undefined {
  const module = join(cwd, 'voxmux.config.mjs')
  return existsSync(module)
    ? `${module} is a program, so voxmux did not run it. To use it, add --config ${module}.`
    : undefined
}
