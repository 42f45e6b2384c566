import { z } from 'zod'

/**
 * The order of a tensor's values. Numbers are fixed dimensions (1, or a constant's). Names are dimensions that carry
 * sound, each at most once: `bins` is frequency, `parts` real and imaginary, `samples` time inside a frame.
 */
const shape = z.array(z.union([z.literal(1), z.enum(['bins', 'parts', 'samples'])])).min(1)

const stage = z.strictObject({
  /** The ONNX file, relative to the description. */
  file: z.string().min(1),
  /** `spectrum`: real and imaginary part; `magnitude`: of the spectrum; `samples`: the frame itself. */
  input: z.strictObject({ name: z.string(), kind: z.enum(['spectrum', 'magnitude', 'samples']), shape }),
  /** `mask` multiplies the stage's own input spectrum; the others replace it. */
  output: z.strictObject({ name: z.string(), kind: z.enum(['spectrum', 'mask', 'samples']), shape }),
  /** State between frames: an output that is the next frame's input. At the start: `initial`, then zeros. */
  states: z
    .array(
      z.strictObject({
        input: z.string(),
        output: z.string(),
        shape: z.array(z.int().positive()),
        initial: z.array(z.number()).default([]),
      }),
    )
    .default([]),
  /** Inputs that never change, such as a limit of attenuation. */
  constants: z
    .array(z.strictObject({ name: z.string(), shape: z.array(z.int().positive()), values: z.array(z.number()) }))
    .default([]),
})

const frame = z.strictObject({
  /** Samples of a frame; even if a spectrum is asked for. */
  size: z.int().positive(),
  hop: z.int().positive(),
  /** Applied before the model and after it. */
  window: z.enum(['hann', 'sqrt-hann', 'vorbis', 'rectangular']).default('sqrt-hann'),
})

const whole = z.strictObject({
  /** The longest piece given at once; what is longer goes in pieces that overlap by half a second. */
  maxSec: z.number().min(2).max(120).default(70),
  /** The piece is filled with silence to a multiple of so many samples (at the model's rate). */
  multipleSamples: z.int().positive().default(1),
})

/**
 * How a speech-enhancement model is fed: frame by frame (`frame`), or a whole sound at once (`whole`). See
 * `docs/onnx-engine.md` for GTCRN-, DTLN- and DeepFilterNet-style layouts.
 */
export const onnxModelSchema = z
  .strictObject({
    /** In Hz; a divisor of 48000. */
    sampleRate: z.union([z.literal(8000), z.literal(12_000), z.literal(16_000), z.literal(24_000), z.literal(48_000)]),
    frame: frame.optional(),
    whole: whole.optional(),
    /** Exponent on magnitudes before the model, taken back after it: 0.3 for models of compressed spectra. */
    compression: z.number().positive().max(1).default(1),
    /** By how many samples (at the model's rate) the output is late. Taken out. */
    delaySamples: z.int().min(0).default(0),
    stages: z.array(stage).min(1),
  })
  .superRefine(({ frame, whole, stages }, { addIssue }) => {
    const say = (message: string, path: string) => addIssue({ code: 'custom', message, path: [path] })
    if ((frame === undefined) === (whole === undefined)) say('Say either "frame" or "whole".', 'frame')
    const isSound = stages.every(({ input, output }) => input.kind === 'samples' && output.kind === 'samples')
    if (whole && !isSound) say('A whole sound goes in and out as "samples".', 'stages')
    if (frame && !isSound && frame.size % 2 === 1) say('A spectrum needs frames of an even size.', 'frame')
    if (frame && frame.hop > frame.size) say('The hop is longer than the frame.', 'frame')
    for (const { shape, initial } of stages.flatMap(({ states }) => states)) {
      const size = shape.reduce((product, length) => product * length, 1)
      if (initial.length > size) say(`A state of ${size} numbers has ${initial.length} at the start.`, 'stages')
    }
  })

export type OnnxModel = z.infer<typeof onnxModelSchema>
export type OnnxStage = OnnxModel['stages'][number]
export type OnnxFrame = z.infer<typeof frame>
export type OnnxWhole = z.infer<typeof whole>
