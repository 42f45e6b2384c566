import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, parse } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { ConfiguredExtension } from '../config/index.js'
import { thrownMessage, UsageError } from '../core/errors.js'
import { docsPage } from '../core/package-folder.js'
import { EXTENSION_CONTRACT, type Extension } from './extension.js'
import { checkOptions, type ExtensionOptionsSchema } from './extension-options.js'

/** A loaded extension with valid options. It is not started yet. */
export interface LoadedExtension {
  readonly extension: Extension<unknown>
  /** With the schema's defaults. */
  readonly options: unknown
  /** The file of its module. */
  readonly path: string
}

const manifestSchema = z.looseObject({
  contract: z.int(),
  name: z.string().min(1),
  description: z.string().min(1),
  options: z
    .custom<ExtensionOptionsSchema>((value) => ['object', 'function'].includes(typeof value) && value !== null)
    .optional(),
  start: z.custom<Extension['start']>((value) => typeof value === 'function', 'must be a function'),
})

/**
 * Loads an extension and validates its manifest and its options.
 *
 * @throws {UsageError} `ERR_EXTENSION_MISSING`; `ERR_EXTENSION_LOAD` if its module throws; `ERR_EXTENSION_MANIFEST`;
 * `ERR_EXTENSION_CONTRACT` if it is written for another version; `ERR_EXTENSION_OPTIONS`
 */
export async function loadExtension(configured: ConfiguredExtension): Promise<LoadedExtension> {
  const { module, options, namedBy } = configured
  const path = resolveModule(module, namedBy === null ? null : dirname(namedBy))
  if (path === undefined) throw missing(configured)
  const exported = await importDefault(path, module)
  requireContract(exported, module)
  const parsed = manifestSchema.safeParse(exported)
  if (!parsed.success) throw manifestWrong(module, parsed.error)
  const source = `The options of the extension "${parsed.data.name}"${namedBy === null ? '' : ` in ${namedBy}`}`
  const checked = await checkOptions(parsed.data.options, options, source)
  return { extension: exported as Extension<unknown>, options: checked, path }
}

async function importDefault(path: string, module: string): Promise<unknown> {
  try {
    const { default: exported } = (await import(pathToFileURL(path).href)) as { default?: unknown }
    // Compiled CommonJS has its default one level deeper.
    return (exported as { default?: unknown } | undefined)?.default ?? exported
  } catch (cause) {
    const why = thrownMessage(cause)
    throw new UsageError('ERR_EXTENSION_LOAD', `The extension ${module} cannot be loaded: ${why}.`, {
      cause,
      input: path,
      remedies: [`Run \`node ${path}\` to see the fault.`],
    })
  }
}

/** Checked first: the manifest of another version may have any shape. */
function requireContract(exported: unknown, module: string): void {
  const contract = (exported as { contract?: unknown } | undefined)?.contract
  if (typeof contract !== 'number' || contract === EXTENSION_CONTRACT) return
  const older = contract < EXTENSION_CONTRACT
  throw new UsageError(
    'ERR_EXTENSION_CONTRACT',
    `The extension ${module} is written for version ${contract} of the extension contract; this voxmux has version ${EXTENSION_CONTRACT}.`,
    { remedies: [older ? 'Update the extension.' : 'Update voxmux.'] },
  )
}

function missing({ module, namedBy }: ConfiguredExtension): UsageError {
  const isPath = /^([\\/.]|[A-Za-z]:[\\/])/.test(module)
  return new UsageError(
    'ERR_EXTENSION_MISSING',
    `The extension ${module} does not exist${namedBy === null ? '' : `. ${namedBy} lists it`}.`,
    {
      remedies: [
        isPath
          ? 'Correct the path. It is relative to the folder of the configuration file.'
          : `Install it there: npm install --prefix ${namedBy === null ? '.' : dirname(namedBy)} ${module}`,
      ],
    },
  )
}

function manifestWrong(module: string, error: z.ZodError): UsageError {
  const problems = error.issues.map(({ path, message }) =>
    path.length > 0 ? `"${path.join('.')}": ${message}` : message,
  )
  return new UsageError('ERR_EXTENSION_MANIFEST', `${module} is not a voxmux extension: ${problems.join('; ')}.`, {
    remedies: [
      `Its default export must be { contract: 1, name, description, start } and, if it has any, options. See ${docsPage('extensions.md')}.`,
    ],
  })
}

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
function resolveModule(module: string, folder: string | null): string | undefined {
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
