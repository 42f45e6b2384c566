import { z } from 'zod'

/** When the voice engine works, and when it leaves the sound alone. The defaults come from `npm run bench:voice`. */
export const evidenceSettings = z.strictObject({
  /** Level that the models would remove, in dB under the voice, at which the input stays as it is. */
  cleanDb: z.number().max(0).default(-34),
  /** Level that the models would remove, in dB under the voice, from which the engine works with full strength. */
  noisyDb: z.number().max(0).default(-28),
})

export type EvidenceSettings = z.infer<typeof evidenceSettings>
