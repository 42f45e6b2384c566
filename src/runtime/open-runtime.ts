import type { Config } from '../config/index.js'
import { silentLogger } from '../core/logger.js'
import { startExtensions } from '../extensions/index.js'
import { type OpenPipelineOptions, openPipeline, type Pipeline } from '../pipeline/job/open-pipeline.js'

/** How the jobs of a front end are run. */
interface OpenRuntimeOptions extends Omit<OpenPipelineOptions, 'startEmbedded'> {
  /** Ends the start of an extension that takes long. */
  readonly signal?: AbortSignal | undefined
  /** Called with a sentence for people when the embedded service starts; default `logger.info`. */
  readonly onEmbedded?: ((message: string) => void) | undefined
}

/**
 * Opens the pipeline of a configuration with the hooks of its extensions, for any front end. If no service is
 * configured, it loads and starts the embedded one.
 *
 * @throws {UsageError} as `openPipeline` and `startExtensions` do; it stops everything first
 */
export async function openRuntime(config: Config, options: OpenRuntimeOptions = {}): Promise<Pipeline> {
  const { signal, onEmbedded, ...rest } = options
  const { logger = silentLogger } = rest
  const extensions = await startExtensions(config, logger, { signal })
  const startEmbedded = async (dataDir: string) => {
    const message = 'No service is configured. Using the embedded one on this machine.'
    if (onEmbedded) onEmbedded(message)
    else logger.info({ dataDir }, message)
    const service = await import('../service/index.js')
    return service.startEmbedded(dataDir, config.engine)
  }
  try {
    const { context, close } = await openPipeline(config, { ...rest, startEmbedded })
    return {
      context: { ...context, hooks: extensions.hooks },
      close: () => close().finally(() => extensions.stop()),
    }
  } catch (error) {
    await extensions.stop()
    throw error
  }
}
