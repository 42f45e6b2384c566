import type { BlockPlan } from './block-plan.js'
import type { VoiceEngine } from './engine.js'
import type { EngineSpec } from './engine-spec.js'
import { createOnnxEngine, ONNX_PLAN } from './onnx-engine.js'
import { createRnnoiseEngine, RNNOISE_PLAN } from './rnnoise-engine.js'

/** Loads the model that the specification names: to be called in a worker thread. */
export async function createEngine(spec: EngineSpec): Promise<VoiceEngine> {
  switch (spec.kind) {
    case 'rnnoise':
      return createRnnoiseEngine(spec.mask)
    case 'onnx':
      return createOnnxEngine(spec.model, spec.mask)
    default:
      return spec satisfies never
  }
}

/** How the engine wants a stream to be cut, known without loading its model. */
export function blockPlanOf(spec: EngineSpec): BlockPlan {
  switch (spec.kind) {
    case 'rnnoise':
      return RNNOISE_PLAN
    case 'onnx':
      return ONNX_PLAN
    default:
      return spec satisfies never
  }
}
