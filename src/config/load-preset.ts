import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../core/errors.js'
import { PACKAGE_FOLDER } from '../core/package-folder.js'
import { checkSchema } from './check-schema.js'
import { nearest } from './nearest.js'
import { type Preset, presetSchema } from './preset-schema.js'
import { readJsonFile } from './read-json-file.js'

/** A preset and its file. */
export interface LoadedPreset {
  /** Name of a built-in preset, or the file's name without its extension. */
  readonly name: string
  readonly path: string
  readonly preset: Preset
}

/** The default preset: nothing but the voice changes. */
export const DEFAULT_PRESET = 'transparent'

const PRESET_FOLDER = fileURLToPath(new URL('presets/', PACKAGE_FOLDER))

/** Names of the built-in presets, sorted. */
export async function presetNames(): Promise<readonly string[]> {
  const files = await readdir(PRESET_FOLDER)
  return files
    .filter((file) => extname(file) === '.json')
    .map((file) => basename(file, '.json'))
    .sort()
}

/**
 * Reads a preset by its name, or by the path of a JSON file (anything with a slash or ending in `.json`).
 *
 * @param folder base of a relative path
 * @throws {UsageError} `ERR_PRESET_UNKNOWN`, `ERR_CONFIG_MISSING`, `ERR_CONFIG_SYNTAX`, `ERR_CONFIG_KEY`,
 * `ERR_CONFIG_VALUE`
 */
export async function loadPreset(nameOrPath: string, folder = process.cwd()): Promise<LoadedPreset> {
  const path = isPresetPath(nameOrPath) ? resolve(folder, nameOrPath) : await builtInPath(nameOrPath, folder)
  return { name: basename(path, '.json'), path, preset: checkSchema(presetSchema, await readJsonFile(path), path) }
}

/** True for the path of a preset, false for the name of a built-in one. */
export function isPresetPath(nameOrPath: string): boolean {
  return /[\\/]|\.json$/.test(nameOrPath)
}

async function builtInPath(name: string, folder: string): Promise<string> {
  const names = await presetNames()
  if (names.includes(name)) return resolve(PRESET_FOLDER, `${name}.json`)
  const guess = nearest(name, names)
  const own = existsSync(resolve(folder, name)) ? `./${name}` : `./${basename(name, extname(name))}.json`
  throw new UsageError(
    'ERR_PRESET_UNKNOWN',
    `The preset "${name}" does not exist${guess ? `; did you mean "${guess}"?` : '.'}`,
    {
      remedies: [`Presets: ${names.join(', ')}. To use your own preset, give its path: ${own}`],
    },
  )
}
