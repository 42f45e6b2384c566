import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Files that stand for a folder which says nothing else. */
const INDEX_FILES = ['index.js', 'index.mjs', 'index.cjs'] as const
/** Conditions of package.json's `exports` under which a plugin is imported, as Node has them. */
const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'module-sync', 'default'])
/** A plugin that was installed beside voxmux (globally, for example) is found whoever names it. */
const OWN_FOLDER = dirname(fileURLToPath(import.meta.url))

/**
 * The file of a module: `import()` would look for a package from where voxmux lies, not from the file that names it.
 *
 * @param module absolute path of a file or a folder, or a package's name, with a subpath or without
 * @param folder from which, and then upwards, `node_modules` is searched; after it voxmux's own surroundings
 * @returns undefined where there is none
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

/** The first condition that holds counts, as in Node. */
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
