import type { Merged } from './merge-layers.js'
import type { PluginSetting } from './settings-schema.js'

/** A plugin that the configuration names. */
export interface ConfiguredPlugin {
  /** Package name, or absolute path of a module or a folder. */
  readonly module: string
  /** As they stand in the file: the plugin's own schema checks them. */
  readonly options: Readonly<Record<string, unknown>>
  /** The file that names it, where a package is looked for from; null where no file does. */
  readonly namedBy: string | null
}

/** The plugins of a configuration, each with its options and the file that names it. */
export function configuredPlugins(merged: Merged): readonly ConfiguredPlugin[] {
  const setting = merged.get('plugins')
  if (!setting) return []
  const namedBy = setting.origin.kind === 'file' ? setting.origin.path : null
  return (setting.value as readonly PluginSetting[]).map((plugin) => {
    const [module, options] = typeof plugin === 'string' ? [plugin, {}] : plugin
    return { module, options, namedBy }
  })
}
