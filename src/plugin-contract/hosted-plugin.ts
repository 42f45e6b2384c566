import type { PluginOptionsSchema } from './plugin-options.js'

/** What a plugin has its host start. Closed. */
export type HostedStartKind = 'command' | 'function' | 'hook' | 'script'

/**
 * The manifest of a plugin that lives in another program: an editor, a server, a render farm, a script. voxmux does
 * not load it; it says what there is, what the host is to start, and which settings that takes. (What takes part in
 * voxmux's own jobs is a `VoxmuxPlugin`.)
 */
export interface HostedPlugin {
  /** As its folder is called. */
  readonly name: string
  /** One sentence. */
  readonly description: string
  readonly starts: readonly {
    readonly kind: HostedStartKind
    /** The command, the function and its module, or the file in the folder. */
    readonly what: string
    /** Where the host calls it. */
    readonly by: string
  }[]
  /** Its settings: JSON Schema, or any Standard Schema. Left out: it has none of its own. */
  readonly options?: PluginOptionsSchema | undefined
  /** Where a person writes the settings; named with `options`. */
  readonly optionsIn?: string | undefined
}
