import type { Config } from '../config/index.js'
import { openRuntime } from '../runtime/open-runtime.js'
import type { Reporter } from './output/reporter.js'

interface CommandRuntimeOptions extends Pick<NonNullable<Parameters<typeof openRuntime>[1]>, 'signal' | 'client'> {
  /** Waits for the end of the runtime; default: however long it takes. */
  readonly ending?: (closed: Promise<void>) => Promise<void>
}

/** Opens the runtime of a command, whose reporter says what happens. At the end of the block, both are closed. */
export async function commandRuntime(
  config: Config,
  reporter: Reporter,
  { ending = (closed) => closed, ...options }: CommandRuntimeOptions,
) {
  const { logger, note: onEmbedded } = reporter
  const { context, close } = await openRuntime(config, { ...options, logger, onEmbedded })
  return {
    context,
    async [Symbol.asyncDispose]() {
      reporter.stop()
      await ending(close())
    },
  }
}
