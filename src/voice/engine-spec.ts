import { z } from 'zod'
import { evidenceSettings } from './restore/evidence-settings.js'

/** Which voice model works, and how: what a pool of workers is started with. */
export const engineSpec = z.discriminatedUnion('kind', [
  z.strictObject({
    /** RNNoise and GTCRN, which come with the package. */
    kind: z.literal('embedded'),
    evidence: evidenceSettings.prefault({}),
  }),
  z.strictObject({
    /** A model of the operator's own, through onnxruntime-web. */
    kind: z.literal('onnx'),
    /** Path of the JSON that describes it. */
    model: z.string().min(1),
    evidence: evidenceSettings.prefault({}),
  }),
])

export type EngineSpec = z.infer<typeof engineSpec>
export type EngineSpecInput = z.input<typeof engineSpec>
