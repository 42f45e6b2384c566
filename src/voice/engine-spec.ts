import { z } from 'zod'
import { maskSettings } from './mask-settings.js'

/** Which voice model works, and how: what a pool of workers is started with. */
export const engineSpec = z.discriminatedUnion('kind', [
  z.strictObject({
    /** RNNoise 0.2, bundled. */
    kind: z.literal('rnnoise'),
    mask: maskSettings.prefault({}),
  }),
])

export type EngineSpec = z.infer<typeof engineSpec>
export type EngineSpecInput = z.input<typeof engineSpec>
