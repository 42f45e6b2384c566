import { openedOnce } from '../../core/waiting.js'
import type { Limits } from '../../precheck/index.js'
import type { EngineSpec } from '../../voice/engine-spec.js'
import { loadEngine } from '../engine/load-engine.js'
import type { FileEngine } from './file-engine.js'

/** The engine of a node. The first file opens it, and the next one if that failed. */
export function nodeEngine(open: () => Promise<FileEngine>) {
  const { opened, ifOpened } = openedOnce(open)
  return { opened, close: async () => (await ifOpened())?.close?.() }
}

/** The embedded engine, whose voice models the files of a node share. */
export async function openEmbeddedEngine(limits: Limits, engine: EngineSpec): Promise<FileEngine> {
  const { processFile, VoicePool } = await loadEngine()
  const pool = new VoicePool({ engine })
  return { processFile: (request) => processFile({ ...request, pool, limits }), close: () => pool.close() }
}
