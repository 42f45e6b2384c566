import type { Config } from '../config/index.js'
import type { PipelineContext } from '../pipeline/context.js'
import { openRuntime } from '../runtime/open-runtime.js'
import type { Reporter } from './output/reporter.js'

interface InRuntimeOptions extends Pick<NonNullable<Parameters<typeof openRuntime>[1]>, 'signal' | 'client'> {
  /** Waits for the end of the runtime; default: however long it takes. */
  readonly ending?: (closed: Promise<void>) => Promise<void>
}

/** Runs the jobs of a command in a runtime that closes with it, and has the reporter say what happens. */
export async function inRuntime<T>(
  config: Config,
  reporter: Reporter,
  { ending = (closed) => closed, ...options }: InRuntimeOptions,
  use: (context: PipelineContext) => Promise<T>,
): Promise<T> {
  const { logger, note: onEmbedded } = reporter
  const runtime = await openRuntime(config, { ...options, logger, onEmbedded })
  try {
    return await use(runtime.context)
  } finally {
    reporter.stop()
    await ending(runtime.close())
  }
}
