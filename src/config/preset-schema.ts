import { z } from 'zod'
import { outputTypeSchema } from '../contract/index.js'
import { channelsChoiceSchema, trackChoiceSchema } from '../precheck/choices.js'

/** Containers for outputs whose original container cannot be written. */
const CONTAINERS = ['mp4', 'mov', 'mkv', 'webm', 'mxf', 'm4a', 'wav', 'flac', 'mp3', 'ogg'] as const

/** Audio codecs for tracks whose original codec cannot be encoded. */
const AUDIO_CODECS = ['pcm', 'flac', 'alac', 'aac', 'opus', 'vorbis', 'mp3', 'ac3', 'eac3'] as const

const voice = z.strictObject({
  model: z.string().min(1).meta({ description: 'Model that the service uses.' }),
  requireVoice: z.boolean().meta({ description: 'Refuse a file without a voice instead of warning.' }),
  outputType: z.enum(['lossless', ...outputTypeSchema.options]).meta({
    description:
      'Format of regenerated audio that is muxed; `lossless` is FLAC, or WAV if the source is float or 32-bit.',
  }),
})

const segments = z.strictObject({
  handleSec: z
    .number()
    .min(0)
    .max(30)
    .meta({ description: 'Seconds of sound sent before and after a segment as context.' }),
  crossfadeSec: z
    .number()
    .min(0)
    .max(1)
    .meta({ description: 'Crossfade at the edges, inside the segment, in seconds.' }),
})

const audio = z.strictObject({
  codec: z.enum(AUDIO_CODECS).meta({ description: 'Audio codec if the original one cannot be encoded.' }),
  bitRate: z
    .int()
    .min(16_000)
    .max(2_000_000)
    .meta({ description: 'Bit rate of a lossy codec in bit/s if the original one is unknown.' }),
  container: z.enum(CONTAINERS).meta({ description: 'Container if the original one cannot be written.' }),
})

const loudness = z.strictObject({
  targetLufs: z
    .number()
    .min(-70)
    .max(-5)
    .meta({ description: 'Integrated loudness (EBU R128) of the regenerated track, in LUFS.' }),
  truePeakDbtp: z.number().min(-20).max(0).meta({
    description: 'Highest true peak, in dBTP. Before a lossy codec, the limit is 1 dB lower.',
  }),
})

/** Percent of the regenerated voice in the output, 0 to 100. */
export const mixSchema = z
  .number()
  .min(0)
  .max(100)
  .meta({ description: 'Percent of the regenerated voice in the output; the rest is the original.' })

/** `--bed`: what happens to music under a voice. */
export const bedSchema = z.enum(['keep', 'lower']).meta({
  description: 'Music under a voice: `keep` leaves it, `lower` makes it 6 dB quieter, under speech as in pauses.',
})

/** `--only-noisy`, in presets, jobs and watched folders. */
export const onlyNoisySchema = z.boolean().meta({
  description: 'Send only parts in which voxmux finds noise around a voice. All else stays as it is.',
})
/** `--skip-clean`, in presets, jobs and watched folders. */
export const skipCleanSchema = z.boolean().meta({
  description: 'Send nothing of a file in which voxmux finds no noise around a voice. Its output is a copy.',
})

/** The delivery standards that an output can be measured against. */
const QC_STANDARDS = ['ebu-r128', 'ebu-r128-live', 'ebu-r128-s1', 'atsc-a85', 'netflix', 'apple-podcasts'] as const
export type QcStandardName = (typeof QC_STANDARDS)[number]

/** `--qc`, in presets, jobs and watched folders. */
export const qcSchema = z.enum(QC_STANDARDS).nullable().meta({
  description: 'Delivery standard for a certificate. ffmpeg measures the finished sound; null for no certificate.',
})

/** `--add-track`, in presets, jobs and watched folders. */
export const addTrackSchema = z.boolean().meta({
  description: 'Keep every track as it is, and add the regenerated one after them as "Clear dialogue".',
})

/** Settings that a preset may leave out. */
const leaves = {
  mix: mixSchema,
  bed: bedSchema,
  onlyNoisy: onlyNoisySchema,
  skipClean: skipCleanSchema,
  qc: qcSchema,
  verify: z.enum(['full', 'fast']).meta({
    description:
      '`full` compares the hash of every copied packet and decodes the new audio; `fast` compares tables and durations.',
  }),
  keepOriginal: z.boolean().meta({ description: 'Keep the original track as a second, labelled one.' }),
  addTrack: addTrackSchema,
  channels: channelsChoiceSchema,
  track: trackChoiceSchema,
}

/** A complete recipe: how a voice is regenerated and written. */
export const recipeSchema = z.strictObject({
  ...{ voice, segments, audio, loudness: loudness.nullable(), ...leaves },
  // Jobs that were queued before these settings existed do not name them.
  mix: mixSchema.default(100),
  bed: bedSchema.default('keep'),
  onlyNoisy: onlyNoisySchema.default(false),
  skipClean: skipCleanSchema.default(false),
  qc: qcSchema.default(null),
  addTrack: addTrackSchema.default(false),
})
export type Recipe = z.infer<typeof recipeSchema>

/** A partial recipe, as in a preset or configuration file. */
export const recipePartSchema = z.strictObject({
  voice: voice.partial().optional().meta({ description: 'Options of the service.' }),
  segments: segments.partial().optional().meta({ description: 'How segments are cut and put back.' }),
  audio: audio
    .partial()
    .optional()
    .meta({ description: 'Used only if the original codec or container cannot be kept.' }),
  loudness: loudness
    .partial()
    .nullable()
    .optional()
    .meta({ description: 'Loudness target; null keeps the loudness of the regenerated audio.' }),
  ...z.object(leaves).partial().shape,
})
export type RecipePart = z.infer<typeof recipePartSchema>

/** A preset file: a recipe, whole or in part, with a description. */
export const presetSchema = recipePartSchema.extend({
  $schema: z.string().optional().meta({ description: 'For editors. voxmux does not read it.' }),
  description: z.string().min(1).meta({ description: 'Purpose of the preset, in one sentence.' }),
})
export type Preset = z.infer<typeof presetSchema>

/** Defaults below presets and all other settings: nothing but the voice changes. */
export const DEFAULT_RECIPE: Recipe = {
  voice: { model: 'regen_v1', requireVoice: false, outputType: 'lossless' },
  segments: { handleSec: 1, crossfadeSec: 0.01 },
  audio: { codec: 'aac', bitRate: 192_000, container: 'mkv' },
  loudness: null,
  mix: 100,
  bed: 'keep',
  onlyNoisy: false,
  skipClean: false,
  qc: null,
  verify: 'full',
  keepOriginal: false,
  addTrack: false,
  channels: 'auto',
  track: 'only',
}

/** The true peak for a loudness target without one (EBU R128). */
export const DEFAULT_TRUE_PEAK_DBTP = -1
