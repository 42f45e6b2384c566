import type { PcmFormat } from '../pcm/pcm.js'
import { fullScaleOf, valuesOf } from '../pcm/pcm-samples.js'
import type { SampleRange, VoiceCut } from '../voice-cut.js'
import { splitRange } from './align-plan.js'
import type { VoiceAlignment } from './align-voice.js'
import { pairedParts } from './paired-parts.js'

/** How much regenerated audio differs from the voice that was sent. */
export interface SoundChange {
  /** Seconds in which the difference can be heard; 0 if the voice came back as it was. */
  readonly changedSec: number
  /** Mean fall of the level in these seconds, in dB; negative if it rose; null if nothing changed. */
  readonly removedDb: number | null
}

/** The parts of a cut to compare with the output, and how the output was mixed. */
export interface SoundChangeOptions {
  /** The compared parts of the cut, in its own samples. */
  readonly ranges: readonly SampleRange[]
  /** Share of the regenerated audio in the output, 0 to 1. */
  readonly share: number
  readonly signal?: AbortSignal | undefined
}

const WINDOW_SEC = 0.1
/** Windows of one read: a second, so that memory holds no more. */
const PART_WINDOWS = 10
/** A difference of less than −40 dB of the sound cannot be heard beside it. */
const LEAST_SHARE = 1e-4
/** Mean square of −90 dBFS: above the rounding and the dither of 16 bits. */
const LEAST_POWER = 1e-9

/** Compares regenerated audio with the cut that was sent, after alignment, window by window. Reads both once. */
export async function soundChange(
  cut: VoiceCut,
  alignment: VoiceAlignment,
  options: SoundChangeOptions,
): Promise<SoundChange> {
  let changedFrames = 0
  let fallDb = 0
  for await (const window of changedWindows(cut, alignment, options)) {
    changedFrames += window.frames
    fallDb += window.frames * window.fallDb
  }
  return { changedSec: changedFrames / cut.sampleRate, removedDb: changedFrames === 0 ? null : fallDb / changedFrames }
}

/** True if nowhere a difference can be heard. Reads both sounds up to the first difference. */
export async function isSameSound(
  cut: VoiceCut,
  alignment: VoiceAlignment,
  options: SoundChangeOptions,
): Promise<boolean> {
  const windows = changedWindows(cut, alignment, options)
  try {
    return (await windows.next()).done === true
  } finally {
    await windows.return(undefined)
  }
}

/** The windows with an audible difference: their frames, and the fall of the level in dB. */
async function* changedWindows(
  cut: VoiceCut,
  alignment: VoiceAlignment,
  { ranges, share, signal }: SoundChangeOptions,
) {
  const windowFrames = Math.round(WINDOW_SEC * cut.sampleRate)
  const own = ranges.flatMap((range) => splitRange(range, PART_WINDOWS * windowFrames))
  const windowValues = windowFrames * cut.channels
  for await (const [before, after] of pairedParts(cut, alignment, own, signal)) {
    const [was, is] = [windowOf(before, cut.pcm.format), windowOf(after, alignment.regenerated.pcm.format)]
    for (let at = 0; at < was.values.length; at += windowValues) {
      const end = Math.min(at + windowValues, was.values.length)
      const { power, mixedPower, differencePower } = compare({ was, is, share }, at, end)
      if (differencePower <= Math.max(LEAST_POWER, LEAST_SHARE * power)) continue
      const fallDb = 10 * Math.log10((power + LEAST_POWER) / (mixedPower + LEAST_POWER))
      yield { frames: (end - at) / cut.channels, fallDb }
    }
  }
}

/** Samples in their own type, because converting every sample would take longer than comparing them. */
interface Window {
  readonly values: ArrayLike<number>
  /** The value of full scale. */
  readonly scale: number
}

function windowOf(bytes: Buffer, { sample }: PcmFormat): Window {
  return { values: valuesOf(bytes, sample), scale: fullScaleOf(sample) }
}

/** Mean squares of the sound before, of the sound after, and of their difference, from one value to another. */
function compare({ was, is, share }: { was: Window; is: Window; share: number }, from: number, to: number) {
  let power = 0
  let mixedPower = 0
  let differencePower = 0
  for (let i = from; i < to; i++) {
    const value = (was.values[i] ?? 0) / was.scale
    const difference = share * ((is.values[i] ?? 0) / is.scale - value)
    power += value * value
    mixedPower += (value + difference) ** 2
    differencePower += difference * difference
  }
  const count = to - from
  return { power: power / count, mixedPower: mixedPower / count, differencePower: differencePower / count }
}
