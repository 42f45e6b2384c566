import type { Logger } from '../core/logger.js'
import type { JobHooks } from '../pipeline/job-hooks.js'
import type { PluginOptionsSchema } from './plugin-options.js'

/** Version of what follows: raised when a plugin of before would no longer work. */
export const PLUGIN_CONTRACT = 1

/**
 * What a plugin's module exports as its default: its manifest, and what it starts.
 *
 *     export default {
 *       contract: 1,
 *       name: 'say-done',
 *       description: 'Says which files are finished.',
 *       start: ({ logger }) => ({ hooks: { afterPublish: ({ output }) => logger.info({ output }, 'finished') } }),
 *     }
 */
export interface VoxmuxPlugin<Options = Readonly<Record<string, unknown>>> {
  /** The version of this contract that the plugin is written for. */
  readonly contract: number
  /** For people: in messages, in `voxmux doctor`, and before each line it logs. */
  readonly name: string
  readonly description: string
  /** What its options must look like: JSON Schema, or any Standard Schema (zod, valibot, arktype). Left out: none. */
  readonly options?: PluginOptionsSchema | undefined
  /** Called once a process, before its first job. What it throws ends the command: nothing was tried. */
  start(host: PluginHost<Options>): PluginParts | undefined | Promise<PluginParts | undefined>
}

/** What a plugin is given. Everything else it imports from `voxmux`. */
export interface PluginHost<Options = Readonly<Record<string, unknown>>> {
  /** Checked against its schema, defaults filled in. */
  readonly options: Options
  /** Says to people what they should know; `debug` and `info` only where somebody listens for them. */
  readonly logger: Logger
}

/** What a plugin starts. */
export interface PluginParts {
  /** Its part in the life of each job; see `JobHooks`. */
  readonly hooks?: Omit<JobHooks, 'name' | 'excuse'> | undefined
  /** Called once, after the last job. */
  stop?(): void | Promise<void>
}

/**
 * Gives a manifest its types, and nothing else: `definePlugin<Options>({ … })`. A plugin in plain JavaScript needs it
 * no more than any import of voxmux.
 */
export function definePlugin<Options = Readonly<Record<string, unknown>>>(
  plugin: VoxmuxPlugin<Options>,
): VoxmuxPlugin<Options> {
  return plugin
}
