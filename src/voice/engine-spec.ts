import { z } from 'zod'
import { maskSettings } from './mask-settings.js'

/** Which voice model works, and how: what a pool of workers is started with. */
export const engineSpec = z.discriminatedUnion('kind', [
  z.strictObject({
    /** RNNoise 0.2, bundled. */
    kind: z.literal('rnnoise'),
    mask: maskSettings.prefault({}),
  }),
  z.strictObject({
    /** A model of the operator's own, through onnxruntime-web. */
    kind: z.literal('onnx'),
    /** Path of the JSON that describes it. */
    model: z.string().min(1),
    mask: maskSettings.prefault({}),
  }),
])

export type EngineSpec = z.infer<typeof engineSpec>
export type EngineSpecInput = z.input<typeof engineSpec>
