import type { Config } from '../config/index.js'
import { nearest } from '../config/nearest.js'
import { errorReport, toVoxmuxError, UsageError } from '../core/errors.js'
import { type Logger, silentLogger } from '../core/logger.js'
import { docsPage } from '../core/package-folder.js'
import type { JobFacts, JobHooks, Veto } from '../pipeline/job-hooks.js'
import type { ExtensionParts } from './extension.js'
import { catchLooseErrors, type ExtensionScope, inScope } from './extension-scope.js'
import { type LoadedExtension, loadExtension } from './load-extension.js'
import { type WaitOptions, waitForExtension } from './wait-for-extension.js'

interface RunningExtensions {
  /** In the order of the configuration, for `PipelineContext.hooks`. */
  readonly hooks: readonly JobHooks[]
  /** Stops them, last first. An error of one is logged, and the others still stop. */
  stop(): Promise<void>
}

/**
 * Loads the configured extensions and starts them one after another. Every front end calls it before its first job.
 * Until they are stopped, no fault that an extension leaves uncaught ends the process.
 *
 * @throws {UsageError} `ERR_EXTENSION_START` if one cannot start; those before it are stopped again. Also every error
 * of `loadExtension`
 */
export async function startExtensions(
  { extensions }: Pick<Config, 'extensions'>,
  logger: Logger = silentLogger,
  options: WaitOptions = {},
): Promise<RunningExtensions> {
  if (extensions.length === 0) return { hooks: [], stop: async () => {} }
  const endWatch = catchLooseErrors()
  const started: { readonly scope: ExtensionScope; readonly parts: ExtensionParts }[] = []
  const stop = async () => {
    for (const { scope, parts } of started.splice(0).reverse()) {
      try {
        await inScope(scope, async () => parts.stop?.())
      } catch (cause) {
        logger.warn(
          { extension: scope.name, cause },
          `The extension "${scope.name}" could not stop: ${messageOf(cause)}`,
        )
      }
    }
    endWatch()
  }
  try {
    const loaded = await Promise.all(
      extensions.map((extension) => inScope({ name: extension.module, logger }, () => loadExtension(extension))),
    )
    for (const each of loaded) {
      const scope = { name: each.extension.name, logger }
      started.push({ scope, parts: await startExtension(each, scope, options) })
    }
  } catch (error) {
    await stop()
    throw error
  }
  const hooks = started.flatMap(({ scope, parts }) => (parts.hooks ? [hooksOf(scope, parts.hooks, options)] : []))
  return { hooks, stop }
}

async function startExtension(
  { extension, options }: LoadedExtension,
  scope: ExtensionScope,
  waiting: WaitOptions,
): Promise<ExtensionParts> {
  let returned: unknown
  try {
    const host = { options, logger: namedLogger(extension.name, scope.logger) }
    returned = await waitForExtension(() => extension.start(host), { ...waiting, scope, what: 'it is starting' })
  } catch (cause) {
    if (waiting.signal?.aborted) throw cause
    throw new UsageError(
      'ERR_EXTENSION_START',
      `The extension "${extension.name}" cannot start: ${messageOf(cause)}.`,
      {
        cause,
        remedies: ['Fix what it reports, or remove it from the configuration.'],
      },
    )
  }
  return requireParts(extension.name, returned)
}

/** Wraps the hooks so that an unexpected result or error affects only its own job. */
function hooksOf(scope: ExtensionScope, hooks: NonNullable<ExtensionParts['hooks']>, options: WaitOptions): JobHooks {
  const { name, logger } = scope
  const wait = <T>(hook: string, { input, signal }: JobFacts, work: () => T | Promise<T>) =>
    waitForExtension(work, { ...options, scope, signal, what: `${hook} of ${input}` })
  return {
    name,
    beforePlan: async (job) => vetoOf(await wait('beforePlan', job, () => hooks.beforePlan?.(job))),
    afterPlan: async (job) => vetoOf(await wait('afterPlan', job, () => hooks.afterPlan?.(job))),
    onProgress: (...progress) => {
      // The rejection of an async onProgress would otherwise end the process.
      inScope(scope, async () => hooks.onProgress?.(...progress)).catch((cause: unknown) => {
        logger.debug({ extension: name, cause }, `${name}: onProgress failed: ${messageOf(cause)}`)
      })
    },
    afterPublish: (job) => wait('afterPublish', job, () => hooks.afterPublish?.(job)),
    onFailure: (job) => wait('onFailure', job, () => hooks.onFailure?.(job)),
  }
}

/** Accepts only a non-empty text as a veto. Hooks often return null, '' or the value of their last expression. */
function vetoOf(answer: unknown): Veto {
  return typeof answer === 'string' && answer !== '' ? answer : undefined
}

function namedLogger(extension: string, logger: Logger): Logger {
  const named =
    (level: keyof Logger) =>
    (fields: object, message: string): void =>
      logger[level]({ extension, ...fields }, `${extension}: ${message}`)
  return { debug: named('debug'), info: named('info'), warn: named('warn'), error: named('error') }
}

function messageOf(thrown: unknown): string {
  return errorReport(toVoxmuxError(thrown))
    .message.replace(/^Unexpected fault: /, '')
    .replace(/\.$/, '')
}

const PARTS: readonly (keyof ExtensionParts)[] = ['hooks', 'stop']
const HOOKS: readonly (keyof NonNullable<ExtensionParts['hooks']>)[] = [
  'beforePlan',
  'afterPlan',
  'onProgress',
  'afterPublish',
  'onFailure',
]

/**
 * Validates the result of an extension's `start`. A mistyped hook would never be called, and a file that it should
 * refuse would be paid for. Other properties are ignored.
 *
 * @throws {UsageError} `ERR_EXTENSION_START`
 */
function requireParts(name: string, returned: unknown): ExtensionParts {
  if (returned === undefined || returned === null) return {}
  const parts = entries(returned)
  const hooks = entries(parts?.hooks ?? {})
  const problem =
    (parts === undefined && 'it returns neither an object nor nothing') ||
    (hooks === undefined && 'its "hooks" is not an object') ||
    unknownName(parts ?? {}, PARTS) ||
    unknownName(hooks ?? {}, HOOKS) ||
    noFunction({ ...hooks, stop: parts?.stop }, [...HOOKS, 'stop'])
  if (!problem) return returned
  throw new UsageError('ERR_EXTENSION_START', `The extension "${name}" cannot be used: ${problem}.`, {
    remedies: [`"start" returns { hooks, stop }; hooks are ${HOOKS.join(', ')}. See ${docsPage('extensions.md')}.`],
  })
}

function entries(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
}

function unknownName(found: Readonly<Record<string, unknown>>, known: readonly string[]): string | undefined {
  for (const key of Object.keys(found)) {
    const meant = known.includes(key) ? undefined : nearest(key, known)
    if (meant !== undefined) return `it has "${key}" (did you mean "${meant}"?)`
  }
  return undefined
}

function noFunction(found: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const wrong = names.find((key) => found[key] !== undefined && found[key] !== null && typeof found[key] !== 'function')
  return wrong && `its "${wrong}" is not a function`
}
