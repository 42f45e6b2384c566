import type { Config } from '../config/index.js'
import { errorReport, toVoxmuxError, UsageError } from '../core/errors.js'
import { type Logger, silentLogger } from '../core/logger.js'
import type { JobFacts, JobHooks, Veto } from '../pipeline/job-hooks.js'
import { type LoadedPlugin, loadPlugin } from './load-plugin.js'
import type { PluginParts } from './plugin.js'
import { inScope, outliveLooseFaults, type PluginScope } from './plugin-scope.js'
import { requireParts } from './require-parts.js'
import { waitForPlugin } from './wait-for-plugin.js'

/** The plugins of a configuration, at work. */
export interface RunningPlugins {
  /** In the order of the configuration: for `PipelineContext.hooks`. */
  readonly hooks: readonly JobHooks[]
  /** Stops them, the last first. What one throws is said, and keeps no other from stopping. */
  stop(): Promise<void>
}

export interface StartPluginsOptions {
  /** Ends the waiting for one that is starting. */
  readonly signal?: AbortSignal | undefined
  /** How long a plugin is waited for before people are told so. */
  readonly patienceMs?: number | undefined
  /** How long a hook may go on after its job was interrupted. */
  readonly graceMs?: number | undefined
}

/**
 * Loads the plugins that a configuration names and starts them, one after another: the one function that every front
 * end calls before its first job. Until they are stopped, no fault that one of them leaves uncaught ends the process.
 *
 * @throws UsageError `ERR_PLUGIN_START` where one cannot start, those before it stopped again; what `loadPlugin` throws
 */
export async function startPlugins(
  { plugins }: Pick<Config, 'plugins'>,
  logger: Logger = silentLogger,
  options: StartPluginsOptions = {},
): Promise<RunningPlugins> {
  if (plugins.length === 0) return { hooks: [], stop: async () => {} }
  const endWatch = outliveLooseFaults()
  const started: { readonly scope: PluginScope; readonly parts: PluginParts }[] = []
  const stop = async () => {
    for (const { scope, parts } of started.splice(0).reverse()) {
      try {
        await inScope(scope, async () => parts.stop?.())
      } catch (cause) {
        logger.warn({ plugin: scope.name, cause }, `The plugin "${scope.name}" could not stop: ${messageOf(cause)}`)
      }
    }
    endWatch()
  }
  try {
    const loaded = await Promise.all(
      plugins.map((plugin) => inScope({ name: plugin.module, logger }, () => loadPlugin(plugin))),
    )
    for (const each of loaded) {
      const scope = { name: each.plugin.name, logger }
      started.push({ scope, parts: await startPlugin(each, scope, options) })
    }
  } catch (error) {
    await stop()
    throw error
  }
  const hooks = started.flatMap(({ scope, parts }) => (parts.hooks ? [hooksOf(scope, parts.hooks, options)] : []))
  return { hooks, stop }
}

async function startPlugin(
  { plugin, options }: LoadedPlugin,
  scope: PluginScope,
  waiting: StartPluginsOptions,
): Promise<PluginParts> {
  let returned: unknown
  try {
    const host = { options, logger: namedLogger(plugin.name, scope.logger) }
    returned = await waitForPlugin(() => plugin.start(host), { ...waiting, scope, what: 'it is starting' })
  } catch (cause) {
    if (waiting.signal?.aborted) throw cause
    throw new UsageError('ERR_PLUGIN_START', `The plugin "${plugin.name}" cannot start: ${messageOf(cause)}.`, {
      cause,
      remedies: ['Mend what it says, or take it out of the configuration.'],
    })
  }
  return requireParts(plugin.name, returned)
}

/** The hooks as the house calls them: whatever a stranger's return or throw, no more than their own job hears of it. */
function hooksOf(scope: PluginScope, hooks: NonNullable<PluginParts['hooks']>, options: StartPluginsOptions): JobHooks {
  const { name, logger } = scope
  const wait = <T>(hook: string, { input, signal }: JobFacts, work: () => T | Promise<T>) =>
    waitForPlugin(work, { ...options, scope, signal, what: `${hook} of ${input}` })
  return {
    name,
    beforePlan: async (job) => vetoOf(await wait('beforePlan', job, () => hooks.beforePlan?.(job))),
    afterPlan: async (job) => vetoOf(await wait('afterPlan', job, () => hooks.afterPlan?.(job))),
    onProgress: (...progress) => {
      // One that is async would otherwise end the process with its rejection.
      inScope(scope, async () => hooks.onProgress?.(...progress)).catch((cause: unknown) => {
        logger.debug({ plugin: name, cause }, `${name}: onProgress failed: ${messageOf(cause)}`)
      })
    },
    afterPublish: (job) => wait('afterPublish', job, () => hooks.afterPublish?.(job)),
    onFailure: (job) => wait('onFailure', job, () => hooks.onFailure?.(job)),
  }
}

/** Only a reason is a veto: JavaScript returns null, '' or what its last expression was by the way. */
function vetoOf(answer: unknown): Veto {
  return typeof answer === 'string' && answer !== '' ? answer : undefined
}

function namedLogger(plugin: string, logger: Logger): Logger {
  const named =
    (level: keyof Logger) =>
    (fields: object, message: string): void =>
      logger[level]({ plugin, ...fields }, `${plugin}: ${message}`)
  return { debug: named('debug'), info: named('info'), warn: named('warn'), error: named('error') }
}

function messageOf(thrown: unknown): string {
  return errorReport(toVoxmuxError(thrown))
    .message.replace(/^Unexpected fault: /, '')
    .replace(/\.$/, '')
}
