import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { ConfiguredExtension } from '../config/index.js'
import { UsageError } from '../core/errors.js'
import { docsPage } from '../core/package-folder.js'
import { thrownMessage } from '../core/thrown-message.js'
import { EXTENSION_CONTRACT, type Extension } from './extension.js'
import { checkOptions, type ExtensionOptionsSchema } from './extension-options.js'
import { resolveModule } from './resolve-module.js'

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
