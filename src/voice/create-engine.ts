import type { BlockPlan } from './block-plan.js'
import type { VoiceEngine } from './engine.js'
import type { EngineSpec } from './engine-spec.js'
import { createRnnoiseEngine, RNNOISE_PLAN } from './rnnoise-engine.js'

/** Loads the model that the specification names: to be called in a worker thread. */
export async function createEngine(spec: EngineSpec): Promise<VoiceEngine> {
  return createRnnoiseEngine(spec.mask)
}

/** How the engine wants a stream to be cut, known without loading its model. */
export function blockPlanOf(_spec: EngineSpec): BlockPlan {
  return RNNOISE_PLAN
}
