import type { Limits } from '../../precheck/index.js'
import type { EngineSpec } from '../../voice/engine-spec.js'
import type { FileEngine } from '../work/file-engine.js'

/** Loads the modules of the embedded engine. A node that only serves does without them. */
export async function loadEngine() {
  const [{ processFile }, { VoicePool }] = await Promise.all([
    import('./process-file.js'),
    import('../../voice/index.js'),
  ])
  return { processFile, VoicePool }
}

/** The embedded engine, whose voice models the files of a node share. */
export async function openEmbeddedEngine(limits: Limits, engine: EngineSpec): Promise<FileEngine> {
  const { processFile, VoicePool } = await loadEngine()
  const pool = new VoicePool({ engine })
  return { processFile: (request) => processFile({ ...request, pool, limits }), close: () => pool.close() }
}
