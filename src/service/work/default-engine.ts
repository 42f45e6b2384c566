import type { Limits } from '../../precheck/index.js'
import type { EngineSpec } from '../../voice/engine-spec.js'
import type { FileEngine } from './file-engine.js'

/** Loads the built-in engine when the first file needs it, so that a node that only serves never pays for it. */
export function defaultEngine(limits: Limits, engine: EngineSpec): () => Promise<FileEngine> {
  return async () => {
    const [{ processFile }, { VoicePool }] = await Promise.all([
      import('../engine/process-file.js'),
      import('../../voice/index.js'),
    ])
    const pool = new VoicePool({ engine })
    return { processFile: (request) => processFile({ ...request, pool, limits }), close: () => pool.close() }
  }
}
