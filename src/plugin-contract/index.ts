export { type LoadedPlugin, loadPlugin } from './load-plugin.js'
export { definePlugin, PLUGIN_CONTRACT, type PluginHost, type PluginParts, type VoxmuxPlugin } from './plugin.js'
export type { PluginOptionsSchema, StandardSchema } from './plugin-options.js'
export { type RunningPlugins, startPlugins } from './start-plugins.js'
