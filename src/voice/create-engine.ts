import type { BlockPlan } from './block-plan.js'
import { createEmbeddedEngine, EMBEDDED_PLAN } from './embedded-engine.js'
import type { VoiceEngine } from './engine.js'
import type { EngineSpec } from './engine-spec.js'
import { createOnnxEngine, ONNX_PLAN } from './onnx/onnx-engine.js'
import { sparing } from './sparing.js'

/** Loads the model that the specification names: to be called in a worker thread. */
export async function createEngine(spec: EngineSpec): Promise<VoiceEngine> {
  switch (spec.kind) {
    case 'embedded':
      return sparing(await createEmbeddedEngine(spec.evidence))
    case 'onnx':
      return sparing(await createOnnxEngine(spec.model, spec.evidence))
    default:
      return spec satisfies never
  }
}

/** How the engine wants a stream to be cut, known without loading its model. */
export function blockPlanOf(spec: EngineSpec): BlockPlan {
  switch (spec.kind) {
    case 'embedded':
      return EMBEDDED_PLAN
    case 'onnx':
      return ONNX_PLAN
    default:
      return spec satisfies never
  }
}
