import type { Config } from '../config/index.js'
import { type OpenPipelineOptions, openPipeline, type Pipeline } from '../pipeline/open-pipeline.js'
import { type StartPluginsOptions, startPlugins } from './start-plugins.js'

/**
 * Opens the pipeline of a configuration with the hooks of its plugins in it: what every front end runs its jobs in.
 *
 * @throws UsageError what `openPipeline` and `startPlugins` throw; nothing is left running then
 */
export async function openPipelineWithPlugins(
  config: Config,
  options: OpenPipelineOptions & Pick<StartPluginsOptions, 'signal'>,
): Promise<Pipeline> {
  const plugins = await startPlugins(config, options.logger, { signal: options.signal })
  try {
    const { context, close } = await openPipeline(config, options)
    return {
      context: { ...context, hooks: plugins.hooks },
      close: async () => {
        await close()
        await plugins.stop()
      },
    }
  } catch (error) {
    await plugins.stop()
    throw error
  }
}
