import { UsageError } from '../core/errors.js'
import { variableOf } from './environment.js'
import type { SettingPath } from './merge-layers.js'

/** Settings that a found file may not have. It comes with the media, and could leak secrets or run programs. */
const TRUSTED_ONLY = [
  'service',
  'webhook',
  'profiles',
  'store',
  'cacheDir',
  'paths',
  'stateDir',
  'ledger',
  'ffmpeg',
  'ffprobe',
  'engine',
  'extensions',
  'credentials',
  'watch.dashboard',
] as const

export function isTrustedOnly(path: SettingPath): boolean {
  return TRUSTED_ONLY.some((key) => path === key || path.startsWith(`${key}.`)) || FOLDER_COMMAND.test(path)
}

/** The command or webhook of a watched folder, as written by {@link pathsWithin} and in the table of all keys. */
const FOLDER_COMMAND = /^watch\.folders(\[\d*\])\.after\b/

/** The paths of some settings, including those inside lists: `watch.folders[0].after`. */
export function pathsWithin(settings: ReadonlyMap<SettingPath, unknown>): readonly SettingPath[] {
  return [...settings].flatMap(([path, value]) => [
    path,
    ...(Array.isArray(value) ? value.flatMap((item, index) => keysOf(item, `${path}[${index}]`)) : []),
  ])
}

function keysOf(item: unknown, prefix: string): readonly SettingPath[] {
  return typeof item === 'object' && item !== null ? Object.keys(item).map((key) => `${prefix}.${key}`) : []
}

/**
 * Refuses addresses, commands and extensions in a found file.
 *
 * @param userFile path of the user's own configuration; null without a home
 * @throws {UsageError} `ERR_CONFIG_NOT_ALLOWED` with the places in which each may be set
 */
export function refuseTrustedOnly(file: string, paths: Iterable<SettingPath>, userFile: string | null): void {
  const refused = [...paths].filter(isTrustedOnly)
  if (refused.length === 0) return
  const names = refused.map((path) => `"${path}"`).join(', ')
  const variables = refused.flatMap((path) => variableOf(path) ?? [])
  const places = [
    ...(variables.length > 0 ? [`in the environment (${variables.join(', ')})`] : []),
    ...(userFile === null ? [] : [`in your own configuration (${userFile})`]),
    `in a file that you name: --config ${file}`,
  ]
  throw new UsageError(
    'ERR_CONFIG_NOT_ALLOWED',
    `${file} was found, not named with --config, so it may not set ${names}.`,
    {
      input: file,
      remedies: [`Set it ${places.join(', or ')}.`],
    },
  )
}
