import type { Merged } from './merge-layers.js'
import type { ExtensionSetting } from './settings-schema.js'

/** An extension listed in the configuration. */
export interface ConfiguredExtension {
  /** Package name, or absolute path of a module or a folder. */
  readonly module: string
  /** Options as written in the file. The extension's own schema validates them. */
  readonly options: Readonly<Record<string, unknown>>
  /** The file that lists it, from which its package is searched; null if no file does. */
  readonly namedBy: string | null
}

/** The extensions of a configuration, each with its options and the file that lists it. */
export function configuredExtensions(merged: Merged): readonly ConfiguredExtension[] {
  const setting = merged.get('extensions')
  if (!setting) return []
  const namedBy = setting.origin.kind === 'file' ? setting.origin.path : null
  return (setting.value as readonly ExtensionSetting[]).map((extension) => {
    const [module, options] = typeof extension === 'string' ? [extension, {}] : extension
    return { module, options, namedBy }
  })
}
