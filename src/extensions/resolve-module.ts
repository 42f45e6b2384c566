import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Entry files of a folder without a manifest. */
const INDEX_FILES = ['index.js', 'index.mjs', 'index.cjs'] as const
/** Conditions of package.json's `exports` that apply to an import, as in Node. */
const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'module-sync', 'default'])
/** An extension installed beside voxmux, for example globally, is found from any configuration file. */
const OWN_FOLDER = dirname(fileURLToPath(import.meta.url))

/**
 * Finds the file of a module. `import()` would search from voxmux's folder, not from the configuration file's.
 *
 * @param module absolute path of a file or a folder, or a package name, with or without a subpath
 * @param folder first folder in which `node_modules` is searched, then its parents, then voxmux's own folders
 * @returns undefined if the module does not exist
 */
export function resolveModule(module: string, folder: string | null): string | undefined {
  if (isAbsolute(module)) return isFile(module) ? module : entryOfFolder(module, '.')
  const [, name = module, rest = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/s.exec(module) ?? []
  const from = [...(folder === null ? [] : [folder]), OWN_FOLDER].flatMap(foldersUpwards)
  const found = from.map((above) => join(above, 'node_modules', name)).find((path) => existsSync(path))
  return found && entryOfFolder(found, `.${rest}`)
}

function foldersUpwards(folder: string): readonly string[] {
  const { root } = parse(folder)
  return folder === root ? [root] : [folder, ...foldersUpwards(dirname(folder))]
}

function entryOfFolder(folder: string, subpath: string): string | undefined {
  const { exports, main } = manifestOf(folder)
  const exported = exportedPath(exports, subpath)
  const named = exports === undefined ? (subpath === '.' ? main : subpath) : exported
  const candidates = named === undefined ? (exports === undefined ? INDEX_FILES : []) : [named]
  return candidates
    .flatMap((name) => [join(folder, name), ...INDEX_FILES.map((index) => join(folder, name, index))])
    .find(isFile)
}

function manifestOf(folder: string): { readonly exports?: unknown; readonly main?: string } {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  } catch {
    return {}
  }
}

function exportedPath(exports: unknown, subpath: string): string | undefined {
  if (typeof exports === 'string') return subpath === '.' ? exports : undefined
  if (typeof exports !== 'object' || exports === null) return undefined
  const entries = Object.entries(exports)
  if (entries.some(([key]) => key.startsWith('.'))) {
    return conditional((exports as Readonly<Record<string, unknown>>)[subpath])
  }
  return subpath === '.' ? conditional(exports) : undefined
}

/** Returns the first matching condition, as in Node. */
function conditional(target: unknown): string | undefined {
  if (typeof target === 'string') return target
  if (typeof target !== 'object' || target === null) return undefined
  for (const [condition, value] of Object.entries(target)) {
    const path = CONDITIONS.has(condition) ? conditional(value) : undefined
    if (path !== undefined) return path
  }
  return undefined
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
