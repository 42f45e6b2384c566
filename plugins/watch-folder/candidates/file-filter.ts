import { basename } from 'node:path'
import { isMediaName } from '../../../src/pipeline/plan/expand-inputs.js'
import { isTemporaryName } from './temporary-names.js'

/** Which names of a folder are taken. */
export interface FileFilterOptions {
  /** Empty: every name with a media extension. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** Name of the marker that must lie beside a file, with `{name}` for the file's name. Null: no marker. */
  readonly marker: string | null
  /** Name that a copy tool gives a file until it is whole; null if there is none. */
  readonly renamedFrom: string | null
}

/** True for a file that is taken, by its path within the folder, with `/` between folders. */
export type FileFilter = (path: string) => boolean

/** Creates the filter that decides by name which files of a folder are taken. */
export function createFileFilter({ include, exclude, marker, renamedFrom }: FileFilterOptions): FileFilter {
  const wanted = include.map(globPattern)
  const unwanted = exclude.map(globPattern)
  const templates = [marker, renamedFrom].filter((template) => template !== null)
  return (path) => {
    const name = basename(path)
    if (isTemporaryName(name) || templates.some((template) => fitsTemplate(template, name))) return false
    if (unwanted.some((pattern) => pattern.test(path))) return false
    return wanted.length === 0 ? isMediaName(name) : wanted.some((pattern) => pattern.test(path))
  }
}

function fitsTemplate(template: string, name: string): boolean {
  const [before = '', after = ''] = template.split('{name}')
  return name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after)
}

/**
 * A glob as a pattern for whole paths with `/` between folders: `*` and `?` stay within a name, `**` crosses folders,
 * `{a,b}` are alternatives. A glob without a slash matches the name alone, in any folder.
 */
export function globPattern(glob: string): RegExp {
  const anywhere = glob.includes('/') ? '' : '(?:.*/)?'
  const parts = glob.match(/\*\*\/|\*\*|\*|\?|\{[^{}/]*\}|./gsu) ?? []
  return new RegExp(`^${anywhere}${parts.map(part).join('')}$`, 'su')
}

function part(token: string): string {
  switch (token) {
    case '**/':
      return '(?:.*/)?'
    case '**':
      return '.*'
    case '*':
      return '[^/]*'
    case '?':
      return '[^/]'
    default:
      return token.length > 1 && token.startsWith('{') ? alternatives(token) : literal(token)
  }
}

function alternatives(token: string): string {
  const options = token.slice(1, -1).split(',')
  return `(?:${options
    .map(
      (option) =>
        option
          .match(/\*|\?|./gsu)
          ?.map(part)
          .join('') ?? '',
    )
    .join('|')})`
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
