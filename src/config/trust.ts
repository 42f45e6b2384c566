import { UsageError } from '../core/errors.js'
import { variableOf } from './environment.js'
import type { SettingPath } from './merge-layers.js'

/**
 * What a file found by walking up from the working folder may not set: such a file comes with the material, and could
 * send the environment's secrets elsewhere or run a program (DESIGN section 3, rule 7).
 */
const TRUSTED_ONLY = [
  'service',
  'webhook',
  'profiles',
  'store',
  'jobs',
  'cacheDir',
  'paths',
  'stateDir',
  'ledger',
  'ffmpeg',
  'ffprobe',
  'plugins',
  'watch.dashboard',
] as const

export function isTrustedOnly(path: SettingPath): boolean {
  return TRUSTED_ONLY.some((key) => path === key || path.startsWith(`${key}.`)) || FOLDER_COMMAND.test(path)
}

/** The command or webhook of a watched folder, as {@link pathsWithin} and the table of all keys name it. */
const FOLDER_COMMAND = /^watch\.folders(\[\d*\])\.after\b/

/** The paths of some settings, and those of what is in their lists: `watch.folders[0].after`. */
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
 * Refuses addresses, commands and plugins in a found file.
 *
 * @param userFile path of the person's own configuration, null where there is no home
 * @throws UsageError `ERR_CONFIG_NOT_ALLOWED`, saying where each may be set
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
  throw new UsageError('ERR_CONFIG_NOT_ALLOWED', `${file} was found, not named, and so may not set ${names}.`, {
    input: file,
    remedies: [`Set it ${places.join(', or ')}.`],
  })
}
