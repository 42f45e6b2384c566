import type { Logger } from '../core/logger.js'
import type { JobHooks } from '../pipeline/job-hooks.js'
import type { ExtensionOptionsSchema } from './extension-options.js'

/** Version of the contract below. Raised when older extensions would no longer work. */
export const EXTENSION_CONTRACT = 1

/**
 * The default export of an extension's module: its manifest and its start function.
 *
 *     export default {
 *       contract: 1,
 *       name: 'log-done',
 *       description: 'Logs which files are finished.',
 *       start: ({ logger }) => ({ hooks: { afterPublish: ({ output }) => logger.info({ output }, 'finished') } }),
 *     }
 */
export interface Extension<Options = Readonly<Record<string, unknown>>> {
  /** Version of this contract for which the extension is written. */
  readonly contract: number
  /** Name for people: in messages, in `voxmux doctor`, and before each line that it logs. */
  readonly name: string
  readonly description: string
  /** Schema of its options: JSON Schema, or any Standard Schema (zod, valibot, arktype). Default: no options. */
  readonly options?: ExtensionOptionsSchema | undefined
  /** Called once per process, before its first job. If it throws, the command ends and no job is started. */
  start(host: ExtensionHost<Options>): ExtensionParts | undefined | Promise<ExtensionParts | undefined>
}

/** The arguments of an extension. It imports everything else from `voxmux`. */
export interface ExtensionHost<Options = Readonly<Record<string, unknown>>> {
  /** Validated against its schema, with defaults filled in. */
  readonly options: Options
  /** Logs messages for people. `debug` and `info` appear only if the front end shows them. */
  readonly logger: Logger
}

/** The parts that an extension starts. */
export interface ExtensionParts {
  /** Its hooks in the life of each job; see `JobHooks`. */
  readonly hooks?: Omit<JobHooks, 'name' | 'excuse'> | undefined
  /** Called once, after the last job. */
  stop?(): void | Promise<void>
}

/** Adds types to a manifest: `defineExtension<Options>({ … })`. Plain JavaScript does not need it. */
export function defineExtension<Options = Readonly<Record<string, unknown>>>(
  extension: Extension<Options>,
): Extension<Options> {
  return extension
}
