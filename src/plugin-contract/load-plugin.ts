import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { ConfiguredPlugin } from '../config/index.js'
import { UsageError } from '../core/errors.js'
import { thrownMessage } from '../core/thrown-message.js'
import { PLUGIN_CONTRACT, type VoxmuxPlugin } from './plugin.js'
import { checkOptions, type PluginOptionsSchema } from './plugin-options.js'
import { resolveModule } from './resolve-module.js'

/** A plugin that was loaded and whose options are in order; nothing of it has been started. */
export interface LoadedPlugin {
  readonly plugin: VoxmuxPlugin<unknown>
  /** With the defaults of its schema. */
  readonly options: unknown
  /** The file it was loaded from. */
  readonly path: string
}

const manifestSchema = z.looseObject({
  contract: z.int(),
  name: z.string().min(1),
  description: z.string().min(1),
  options: z
    .custom<PluginOptionsSchema>((value) => ['object', 'function'].includes(typeof value) && value !== null)
    .optional(),
  start: z.custom<VoxmuxPlugin['start']>((value) => typeof value === 'function', 'must be a function'),
})

/**
 * Loads a plugin and checks its manifest and its options.
 *
 * @throws UsageError `ERR_PLUGIN_MISSING`; `ERR_PLUGIN_LOAD` where its module throws; `ERR_PLUGIN_MANIFEST`;
 *   `ERR_PLUGIN_CONTRACT` where it is written for another version; `ERR_PLUGIN_OPTIONS`
 */
export async function loadPlugin(configured: ConfiguredPlugin): Promise<LoadedPlugin> {
  const { module, options, namedBy } = configured
  const path = resolveModule(module, namedBy === null ? null : dirname(namedBy))
  if (path === undefined) throw missing(configured)
  const exported = await importDefault(path, module)
  requireContract(exported, module)
  const parsed = manifestSchema.safeParse(exported)
  if (!parsed.success) throw manifestWrong(module, parsed.error)
  const source = `The options of the plugin "${parsed.data.name}"${namedBy === null ? '' : ` in ${namedBy}`}`
  const checked = await checkOptions(parsed.data.options, options, source)
  return { plugin: exported as VoxmuxPlugin<unknown>, options: checked, path }
}

async function importDefault(path: string, module: string): Promise<unknown> {
  try {
    const { default: exported } = (await import(pathToFileURL(path).href)) as { default?: unknown }
    // CommonJS that a compiler wrote has its default one level deeper.
    return (exported as { default?: unknown } | undefined)?.default ?? exported
  } catch (cause) {
    const why = thrownMessage(cause)
    throw new UsageError('ERR_PLUGIN_LOAD', `The plugin ${module} cannot be loaded: ${why}.`, {
      cause,
      input: path,
      remedies: [`Run \`node ${path}\` to see where it fails.`],
    })
  }
}

/** Asked first: a manifest of another version may look like anything. */
function requireContract(exported: unknown, module: string): void {
  const contract = (exported as { contract?: unknown } | undefined)?.contract
  if (typeof contract !== 'number' || contract === PLUGIN_CONTRACT) return
  const older = contract < PLUGIN_CONTRACT
  throw new UsageError(
    'ERR_PLUGIN_CONTRACT',
    `The plugin ${module} is written for version ${contract} of the plugin contract; this voxmux has version ${PLUGIN_CONTRACT}.`,
    { remedies: [older ? 'Update the plugin.' : 'Update voxmux.'] },
  )
}

function missing({ module, namedBy }: ConfiguredPlugin): UsageError {
  const isPath = /^([\\/.]|[A-Za-z]:[\\/])/.test(module)
  return new UsageError(
    'ERR_PLUGIN_MISSING',
    `There is no plugin ${module}${namedBy === null ? '' : `, which ${namedBy} names`}.`,
    {
      remedies: [
        isPath
          ? 'A path counts from the folder of the configuration that names it.'
          : `Install it there: npm install --prefix ${namedBy === null ? '.' : dirname(namedBy)} ${module}`,
      ],
    },
  )
}

function manifestWrong(module: string, error: z.ZodError): UsageError {
  const problems = error.issues.map(({ path, message }) =>
    path.length > 0 ? `"${path.join('.')}": ${message}` : message,
  )
  return new UsageError('ERR_PLUGIN_MANIFEST', `${module} is no plugin of voxmux: ${problems.join('; ')}.`, {
    remedies: [
      'Its default export must be { contract: 1, name, description, start }, and options where it takes any: see docs/plugins.md.',
    ],
  })
}
