import type { Config } from '../config/index.js'
import type { Logger } from '../core/logger.js'
import type { PipelineContext } from '../pipeline/context.js'
import type { Pipeline } from '../pipeline/job/open-pipeline.js'
import { openRuntime } from './open-runtime.js'

/** One runtime that any number of callers use. */
interface Shared {
  readonly runtime: Promise<Pipeline>
  users: number
  closing: NodeJS.Timeout | undefined
}

/** How long a runtime stays open for the next call: a script runs one step after another. */
export const LINGER_MS = 250

const open = new Map<string, Shared>()

/**
 * Calls `use` with the runtime of a configuration. The first caller opens it. All callers share it: one token, one
 * status watcher, one transfer pool, one embedded service. It closes after `lingerMs` without a caller. With 0 it closes
 * before this resolves.
 */
export async function inSharedRuntime<T>(
  config: Config,
  logger: Logger,
  lingerMs: number,
  use: (context: PipelineContext) => Promise<T>,
): Promise<T> {
  const key = keyOf(config)
  const shared = open.get(key) ?? { runtime: openRuntime(config, { logger }), users: 0, closing: undefined }
  open.set(key, shared)
  shared.users++
  clearTimeout(shared.closing)
  try {
    const { context } = await shared.runtime
    return await use({ ...context, logger })
  } finally {
    shared.users--
    if (shared.users === 0 && lingerMs === 0) await close(key, shared)
    else if (shared.users === 0) shared.closing = setTimeout(() => void close(key, shared), lingerMs)
  }
}

async function close(key: string, { runtime }: Shared): Promise<void> {
  open.delete(key)
  // If the runtime failed to open, its callers have the error already.
  await runtime.then((opened) => opened.close()).catch(() => {})
}

/** A key of all settings of a runtime, without those of a single job and without the origins of values. */
function keyOf({ preset, recipe, outputType, strict, report, chunkSec, concurrency, ...config }: Config): string {
  const { origins, files, notes, limits, ...common } = config
  return JSON.stringify({ ...common, limits: { ...limits, requireVoice: false } })
}
