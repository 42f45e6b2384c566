import { createEmbeddedEngine } from './embedded-engine.js'
import type { VoiceEngine } from './engine.js'
import type { EngineSpec } from './engine-spec.js'
import { sparing } from './sparing.js'

/** Loads the model that the specification names: to be called in a worker thread. */
export async function createEngine(spec: EngineSpec): Promise<VoiceEngine> {
  switch (spec.kind) {
    case 'embedded':
      return sparing(await createEmbeddedEngine(spec.evidence))
    case 'onnx': {
      // Its schema brings zod, which takes as long to load as the embedded models.
      const { createOnnxEngine } = await import('./onnx/onnx-engine.js')
      return sparing(await createOnnxEngine(spec.model, spec.evidence))
    }
    default:
      return spec satisfies never
  }
}
