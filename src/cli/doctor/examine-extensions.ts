import type { Config } from '../../config/index.js'
import { loadExtension } from '../../extensions/index.js'
import { type Finding, finding } from './finding.js'

/** Loads the configured extensions and checks their options, without starting them. */
export function examineExtensions({ extensions }: Config): Promise<readonly Finding[]> {
  return Promise.all(
    extensions.map((configured) =>
      finding('extension', async () => {
        const { extension, path } = await loadExtension(configured)
        return `${extension.name}: ${extension.description} (${path})`
      }),
    ),
  )
}
