import { frameBytes, type PcmStream } from '../pcm/pcm.js'
import { readPcmFile } from '../pcm/pcm-file.js'
import { PcmReader } from '../pcm/pcm-reader.js'
import { fullScaleOf, valuesOf } from '../pcm/pcm-samples.js'
import type { SampleRange, VoiceCut } from '../voice-cut.js'
import type { VoiceAlignment } from './align-voice.js'
import { alignedVoice } from './aligned-voice.js'

/** How much regenerated audio differs from the voice that was sent. */
export interface SoundChange {
  /** Seconds in which the difference can be heard; 0 if the voice came back as it was. */
  readonly changedSec: number
  /** Mean fall of the level in these seconds, in dB; negative if it rose; null if nothing changed. */
  readonly removedDb: number | null
}

export interface SoundChangeOptions {
  /** The compared part of the cut, in its own samples. */
  readonly range: SampleRange
  /** Share of the regenerated audio in the output, 0 to 1. */
  readonly share: number
  readonly signal?: AbortSignal | undefined
}

const WINDOW_SEC = 0.1
/** A difference of less than −40 dB of the sound cannot be heard beside it. */
const LEAST_SHARE = 1e-4
/** Mean square of −90 dBFS: above the rounding and the dither of 16 bits. */
const LEAST_POWER = 1e-9

/** Compares regenerated audio with the cut that was sent, after alignment, window by window. Reads both once. */
export async function soundChange(
  cut: VoiceCut,
  alignment: VoiceAlignment,
  { range, share, signal }: SoundChangeOptions,
): Promise<SoundChange> {
  const { sampleRate, channels } = cut
  const sent = readPcmFile(cut.pcm, { signal })
  const regenerated = alignedVoice(cut, alignment, { sample: alignment.answer.pcm.format.sample, signal })
  let changedFrames = 0
  let fallDb = 0
  for await (const [before, after] of windows(sent, regenerated, range, Math.round(WINDOW_SEC * sampleRate))) {
    const { power, mixedPower, differencePower } = compare(before, after, share)
    if (differencePower <= Math.max(LEAST_POWER, LEAST_SHARE * power)) continue
    const frames = before.values.length / channels
    changedFrames += frames
    fallDb += frames * 10 * Math.log10((power + LEAST_POWER) / (mixedPower + LEAST_POWER))
  }
  return { changedSec: changedFrames / sampleRate, removedDb: changedFrames === 0 ? null : fallDb / changedFrames }
}

/** Reads the same range of two streams in windows of `frames`. */
async function* windows(one: PcmStream, other: PcmStream, { startSample, endSample }: SampleRange, frames: number) {
  const readers = [new PcmReader(one), new PcmReader(other)] as const
  try {
    await Promise.all(readers.map((reader) => reader.skip(startSample)))
    for (let at = startSample; at < endSample; at += frames) {
      const wanted = Math.min(frames, endSample - at)
      const [before, after] = await Promise.all([readers[0].read(wanted), readers[1].read(wanted)])
      if (before.length < frameBytes(one.format)) return
      yield [windowOf(before, one), windowOf(after, other)] as const
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.close()))
  }
}

/** Samples in their own type, because converting every sample would take longer than comparing them. */
interface Window {
  readonly values: ArrayLike<number>
  /** The value of full scale. */
  readonly scale: number
}

function windowOf(bytes: Buffer, { format: { sample } }: PcmStream): Window {
  return { values: valuesOf(bytes, sample), scale: fullScaleOf(sample) }
}

/** Mean squares of the sound before, of the sound after, and of their difference. */
function compare({ values: before, scale: was }: Window, { values: after, scale: is }: Window, share: number) {
  let power = 0
  let mixedPower = 0
  let differencePower = 0
  for (let i = 0; i < before.length; i++) {
    const value = (before[i] ?? 0) / was
    const difference = share * ((after[i] ?? 0) / is - value)
    power += value * value
    mixedPower += (value + difference) ** 2
    differencePower += difference * difference
  }
  const count = before.length
  return { power: power / count, mixedPower: mixedPower / count, differencePower: differencePower / count }
}
