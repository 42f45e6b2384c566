import { throwIfAborted } from '../../core/abort.js'
import type { PcmFormat } from '../pcm/pcm.js'
import { readPcmParts } from '../pcm/pcm-file.js'
import { fullScaleOf, valuesOf } from '../pcm/pcm-samples.js'
import type { SampleRange, VoiceCut } from '../voice-cut.js'
import type { VoiceAlignment } from './align-voice.js'

/** The first channel of a voice and of its output, of one length and in place; full scale 1. */
export interface SoundPair {
  readonly before: Float32Array
  readonly after: Float32Array
}

export interface SoundPairsOptions {
  /** The parts to read, in samples of the cut. */
  readonly ranges: readonly SampleRange[]
  /** Share of the regenerated audio in the output, 0 to 1. */
  readonly share: number
  readonly signal?: AbortSignal | undefined
}

/** Reads parts of a cut beside the same parts of the output, after alignment. Memory holds one part at a time. */
export async function* soundPairs(
  cut: VoiceCut,
  { answer: { pcm, startSample }, lagSamples }: VoiceAlignment,
  { ranges, share, signal }: SoundPairsOptions,
): AsyncGenerator<SoundPair> {
  const shift = startSample + lagSamples
  const shifted = ranges.map((range) => ({
    startSample: range.startSample + shift,
    endSample: range.endSample + shift,
  }))
  const regenerated = readPcmParts(pcm, shifted)
  try {
    for await (const part of readPcmParts(cut.pcm, ranges)) {
      throwIfAborted(signal)
      const next = await regenerated.next()
      if (next.done) return
      const before = firstChannel(part, cut.pcm.format)
      const after = firstChannel(next.value, pcm.format)
      yield { before, after: after.map((value, i) => share * value + (1 - share) * (before[i] ?? 0)) }
    }
  } finally {
    await regenerated.return(undefined)
  }
}

function firstChannel(bytes: Buffer, { sample, channels }: PcmFormat): Float32Array {
  const values = valuesOf(bytes, sample)
  const scale = fullScaleOf(sample)
  // `Float32Array.from` takes ten times as long.
  const channel = new Float32Array(values.length / channels)
  for (let i = 0; i < channel.length; i++) channel[i] = (values[i * channels] ?? 0) / scale
  return channel
}
