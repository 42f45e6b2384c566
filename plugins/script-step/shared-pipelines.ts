import { type Config, type Logger, openPipeline, type Pipeline, type PipelineContext } from 'voxmux'

/** One pipeline that any number of steps run in. */
interface Shared {
  readonly pipeline: Promise<Pipeline>
  users: number
  closing: NodeJS.Timeout | undefined
}

/** One step after another is the rule in a script: the next one finds everything open. Then the process may end. */
export const LINGER_MS = 250

const open = new Map<string, Shared>()

/**
 * Does some work in the pipeline of a configuration: opened by the first that needs it, shared by all that do (one
 * token, one status watcher, one transfer pool, one embedded service), closed when nobody has needed it for `lingerMs`; with 0 before this resolves.
 */
export async function inSharedPipeline<T>(
  config: Config,
  logger: Logger,
  lingerMs: number,
  work: (context: PipelineContext) => Promise<T>,
): Promise<T> {
  const key = keyOf(config)
  const shared = open.get(key) ?? { pipeline: openStepPipeline(config, logger), users: 0, closing: undefined }
  open.set(key, shared)
  shared.users++
  clearTimeout(shared.closing)
  try {
    const { context } = await shared.pipeline
    return await work({ ...context, logger })
  } finally {
    shared.users--
    if (shared.users === 0 && lingerMs === 0) await close(key, shared)
    else if (shared.users === 0) shared.closing = setTimeout(() => void close(key, shared), lingerMs)
  }
}

async function close(key: string, { pipeline }: Shared): Promise<void> {
  open.delete(key)
  // What cannot be closed was never opened: whoever asked for it has heard why.
  await pipeline.then((opened) => opened.close()).catch(() => {})
}

function openStepPipeline(config: Config, logger: Logger): Promise<Pipeline> {
  return openPipeline(config, {
    logger,
    startEmbedded: async (dataDir) => {
      logger.info({ dataDir }, 'No service is configured: the embedded one works, on this machine.')
      const { startEmbedded } = await import('voxmux/service')
      return startEmbedded(dataDir)
    },
  })
}

/** Everything that a pipeline is opened with: all but what is each job's own, or says where a value came from. */
function keyOf({ preset, recipe, outputType, strict, report, chunkSec, concurrency, ...config }: Config): string {
  const { origins, files, notes, limits, ...common } = config
  return JSON.stringify({ ...common, limits: { ...limits, requireVoice: false } })
}
