import { z } from 'zod'

/** How strongly the voice engine works. The defaults come from `npm run bench:voice`. */
export const maskSettings = z.strictObject({
  /** Exponent on the model's gain: below 1 is gentler on weak voice, 1 takes the model at its word. */
  exponent: z.number().min(0.1).max(2).default(0.6),
  /** What stays of the noise at the strongest, as a gain (0.08 is −22 dB): nothing at all sounds unnatural. */
  floor: z.number().min(0).max(1).default(0.08),
  /** Background, in dB under the voice, at which nothing is to be mended: the input passes as it is. */
  cleanDb: z.number().max(0).default(-34),
  /** Background, in dB under the voice, from which on the engine works with full strength. */
  noisyDb: z.number().max(0).default(-19),
  /** Below this the voice has nothing: rumble is taken out, with the same strength as noise. */
  highPassHz: z.number().min(0).max(200).default(50),
  /** Above this the model knows nothing; the gain it found just below goes on. */
  modelBandHz: z.number().min(8000).max(20_000).default(17_000),
})

export type MaskSettings = z.infer<typeof maskSettings>
