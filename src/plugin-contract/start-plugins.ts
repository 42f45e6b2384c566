import type { Config } from '../config/index.js'
import { errorReport, toVoxmuxError, UsageError } from '../core/errors.js'
import { type Logger, silentLogger } from '../core/logger.js'
import type { JobHooks, Veto } from '../pipeline/job-hooks.js'
import { type LoadedPlugin, loadPlugin } from './load-plugin.js'
import type { PluginParts } from './plugin.js'

/** The plugins of a configuration, at work. */
export interface RunningPlugins {
  /** In the order of the configuration: for `PipelineContext.hooks`. */
  readonly hooks: readonly JobHooks[]
  /** Stops them, the last first. What one throws is said, and keeps no other from stopping. */
  stop(): Promise<void>
}

/**
 * Loads the plugins that a configuration names and starts them, one after another: the one function that every front
 * end calls before its first job.
 *
 * @throws UsageError `ERR_PLUGIN_START` where one cannot start, those before it stopped again; what `loadPlugin` throws
 */
export async function startPlugins(
  { plugins }: Pick<Config, 'plugins'>,
  logger: Logger = silentLogger,
): Promise<RunningPlugins> {
  const loaded = await Promise.all(plugins.map(loadPlugin))
  const started: { readonly name: string; readonly parts: PluginParts }[] = []
  const stop = async () => {
    for (const { name, parts } of started.splice(0).reverse()) {
      try {
        await parts.stop?.()
      } catch (cause) {
        logger.warn({ plugin: name, cause }, `The plugin "${name}" could not stop: ${messageOf(cause)}`)
      }
    }
  }
  try {
    for (const plugin of loaded) started.push({ name: plugin.plugin.name, parts: await startPlugin(plugin, logger) })
  } catch (error) {
    await stop()
    throw error
  }
  const hooks = started.flatMap(({ name, parts }) => (parts.hooks ? [hooksOf(name, parts.hooks, logger)] : []))
  return { hooks, stop }
}

async function startPlugin({ plugin, options }: LoadedPlugin, logger: Logger): Promise<PluginParts> {
  try {
    return (await plugin.start({ options, logger: namedLogger(plugin.name, logger) })) ?? {}
  } catch (cause) {
    throw new UsageError('ERR_PLUGIN_START', `The plugin "${plugin.name}" cannot start: ${messageOf(cause)}.`, {
      cause,
      remedies: ['Mend what it says, or take it out of the configuration.'],
    })
  }
}

/** The hooks as the house calls them: whatever a stranger's return or throw, no more than their own job hears of it. */
function hooksOf(name: string, hooks: NonNullable<PluginParts['hooks']>, logger: Logger): JobHooks {
  return {
    name,
    beforePlan: async (job) => vetoOf(await hooks.beforePlan?.(job)),
    afterPlan: async (job) => vetoOf(await hooks.afterPlan?.(job)),
    onProgress: (...progress) => {
      // One that is async would otherwise end the process with its rejection.
      new Promise((resolve) => resolve(hooks.onProgress?.(...progress))).catch((cause: unknown) => {
        logger.debug({ plugin: name, cause }, `${name}: onProgress failed: ${messageOf(cause)}`)
      })
    },
    afterPublish: (job) => hooks.afterPublish?.(job),
    onFailure: (job) => hooks.onFailure?.(job),
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
