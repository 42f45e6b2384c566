import { z } from 'zod'
import { outputTypeSchema } from '../contract/index.js'
import { channelsChoiceSchema, trackChoiceSchema } from '../precheck/choices.js'

/** Containers that can be asked for where the original one cannot be written. */
export const CONTAINERS = ['mp4', 'mov', 'mkv', 'webm', 'mxf', 'm4a', 'wav', 'flac', 'mp3', 'ogg'] as const

/** Audio codecs that can be asked for where the original one cannot be encoded. */
export const AUDIO_CODECS = ['pcm', 'flac', 'alac', 'aac', 'opus', 'vorbis', 'mp3', 'ac3', 'eac3'] as const

const voice = z.strictObject({
  model: z.string().min(1).meta({ description: 'Model that the service is asked for.' }),
  requireVoice: z.boolean().meta({ description: 'Refuse a file in which no voice is found, instead of warning.' }),
  outputType: z.enum(['lossless', ...outputTypeSchema.options]).meta({
    description:
      'What the service answers in when its answer goes into a mux; `lossless` is FLAC, or WAV where the source is float or 32-bit.',
  }),
})

const segments = z.strictObject({
  handleSec: z
    .number()
    .min(0)
    .max(30)
    .meta({ description: 'Sound sent before and after a segment, so that it does not begin cold.' }),
  crossfadeSec: z.number().min(0).max(1).meta({ description: 'Crossfade at the edges, inside the segment.' }),
})

const audio = z.strictObject({
  codec: z.enum(AUDIO_CODECS).meta({ description: "Audio codec, where the original's cannot be encoded." }),
  bitRate: z
    .int()
    .min(16_000)
    .max(2_000_000)
    .meta({ description: 'Bit rate of a lossy codec, in bit/s, where the original’s is not known.' }),
  container: z.enum(CONTAINERS).meta({ description: 'Container, where the original one cannot be written.' }),
})

const loudness = z.strictObject({
  targetLufs: z
    .number()
    .min(-70)
    .max(-5)
    .meta({ description: 'Integrated loudness (EBU R128) of the regenerated track, in LUFS.' }),
  truePeakDbtp: z.number().min(-20).max(0).meta({ description: 'Highest true peak, in dBTP.' }),
})

const leaves = {
  verify: z.enum(['full', 'fast']).meta({
    description:
      '`full` compares the hash of every copied packet and decodes the new audio; `fast` compares tables and durations.',
  }),
  keepOriginal: z.boolean().meta({ description: 'Keep the untouched track as a second one, labelled.' }),
  channels: channelsChoiceSchema,
  track: trackChoiceSchema,
}

/** What a preset decides, complete: how a voice is regenerated and written. */
export const recipeSchema = z.strictObject({ voice, segments, audio, loudness: loudness.nullable(), ...leaves })
export type Recipe = z.infer<typeof recipeSchema>

/** The same, with everything left out that is not decided here: what a preset or configuration file may hold. */
export const recipePartSchema = z.strictObject({
  voice: voice.partial().optional().meta({ description: 'What is asked of the service.' }),
  segments: segments.partial().optional().meta({ description: 'How parts are cut and laid back.' }),
  audio: audio
    .partial()
    .optional()
    .meta({ description: 'Used only where the original codec or container cannot be kept.' }),
  loudness: loudness
    .partial()
    .nullable()
    .optional()
    .meta({ description: 'Loudness target; null leaves the loudness as it comes.' }),
  verify: leaves.verify.optional(),
  keepOriginal: leaves.keepOriginal.optional(),
  channels: leaves.channels.optional(),
  track: leaves.track.optional(),
})
export type RecipePart = z.infer<typeof recipePartSchema>

/** A preset file: a recipe, whole or in part, with a description. */
export const presetSchema = recipePartSchema.extend({
  $schema: z.string().optional().meta({ description: 'For editors; not read.' }),
  description: z.string().min(1).meta({ description: 'One sentence: what the preset is for.' }),
})
export type Preset = z.infer<typeof presetSchema>

/** What holds where neither a preset nor anything above it says otherwise: nothing but the voice changes. */
export const DEFAULT_RECIPE: Recipe = {
  voice: { model: 'regen_v1', requireVoice: false, outputType: 'lossless' },
  segments: { handleSec: 1, crossfadeSec: 0.01 },
  audio: { codec: 'aac', bitRate: 192_000, container: 'mkv' },
  loudness: null,
  verify: 'full',
  keepOriginal: false,
  channels: 'auto',
  track: 'only',
}

/** The true peak that goes with a loudness target which names none (EBU R128). */
export const DEFAULT_TRUE_PEAK_DBTP = -1
