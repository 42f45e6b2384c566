import type { Config } from '../../config/index.js'
import { loadPlugin } from '../../plugin-contract/index.js'
import { type Finding, finding } from './finding.js'

/** The plugins that are configured: loaded, their options checked, and not started. */
export function examinePlugins({ plugins }: Config): Promise<readonly Finding[]> {
  return Promise.all(
    plugins.map((configured) =>
      finding('plugin', async () => {
        const { plugin, path } = await loadPlugin(configured)
        return `${plugin.name}: ${plugin.description} (${path})`
      }),
    ),
  )
}
