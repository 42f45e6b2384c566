import FFT from 'fft.js'
import { type Evidence, emptyEvidence } from './evidence.js'
import type { FrameGain, FrameSums } from './frame-gain.js'
import { addPair, splitPair } from './spectrum-pair.js'

/** Window of the transforms: 21 ms at 48 kHz, half overlapped. */
const WINDOW_SAMPLES = 1024
export const HOP_SAMPLES = WINDOW_SAMPLES / 2
export const HOP_SEC = HOP_SAMPLES / 48_000
export const BIN_HZ = 48_000 / WINDOW_SAMPLES

const BINS = WINDOW_SAMPLES / 2 + 1

/** Square root of a Hann window: applied before and after, overlapped by half, it adds up to 1. */
const WINDOW = Float64Array.from({ length: WINDOW_SAMPLES }, (_, i) => Math.sin((Math.PI * i) / WINDOW_SAMPLES))
/** From a spectrum's power to a mean square: all bins but two stand for two, and the window takes half. */
const TO_MEAN_SQUARE = 2 / ((WINDOW_SAMPLES * WINDOW_SAMPLES) / 2)

/** A channel as it is, and what each model makes of it: of one length, in one place, 48 kHz. */
export interface InputChannel {
  readonly original: Float32Array
  readonly voices: readonly Float32Array[]
}

/**
 * The change that the models would make. Their gains apply to the original's spectrum, so that sound which stays as it
 * is need not be transformed, filtered or resampled.
 *
 * @param likeness of each channel, frame by frame: how far it uses the gain that all channels share
 * @returns the samples to add to each channel at full strength, and the evidence for them, frame by frame
 */
export function proposeChanges(heard: readonly InputChannel[], gain: FrameGain, likeness: readonly Float64Array[]) {
  const length = heard[0]?.original.length ?? 0
  const frames = framesOf(length)
  const tracks = heard.map((channel) => new Track(channel, gain.voiceCount, frames))
  const shared = emptyEvidence(frames)
  const together = new Sums(gain.voiceCount)
  const sharedGain = new Float64Array(2 * BINS)
  const ownGain = new Float64Array(2 * BINS)

  for (let frame = 0; frame < frames; frame++) {
    together.clear()
    for (const track of tracks) track.hear(frame, together)
    record(shared, frame, gain.find(together, sharedGain), tracks.length)
    for (const [c, track] of tracks.entries()) {
      const alike = likeness[c]?.[frame] ?? 1
      if (alike === 1) {
        copyFrame(shared, track.own, frame)
        track.change(sharedGain)
        continue
      }
      record(track.own, frame, gain.find(track.sums, ownGain), 1)
      for (let i = 0; i < ownGain.length; i++) {
        ownGain[i] = alike * (sharedGain[i] ?? 0) + (1 - alike) * (ownGain[i] ?? 0)
      }
      track.change(ownGain)
    }
  }
  return tracks.map((track) => ({ change: track.finished(), own: track.own, shared }))
}

/** How many windows touch so many samples; the first ends a hop after the start. */
export function framesOf(length: number): number {
  return Math.ceil(length / HOP_SAMPLES) + 1
}

const fft = new FFT(WINDOW_SAMPLES)
const packed = new Float64Array(2 * WINDOW_SAMPLES)
const spectrum = new Float64Array(2 * WINDOW_SAMPLES)
const samples = new Float64Array(2 * WINDOW_SAMPLES)
const unused = new Float64Array(2 * BINS)

class Sums implements FrameSums {
  readonly power = new Float64Array(BINS)
  readonly crosses: readonly Float64Array[]

  constructor(voiceCount: number) {
    this.crosses = Array.from({ length: voiceCount }, () => new Float64Array(2 * BINS))
  }

  clear(): void {
    this.power.fill(0)
    for (const cross of this.crosses) cross.fill(0)
  }

  add(other: FrameSums): void {
    for (let bin = 0; bin < BINS; bin++) this.power[bin] = (this.power[bin] ?? 0) + (other.power[bin] ?? 0)
    for (const [v, cross] of this.crosses.entries()) {
      const added = other.crosses[v]
      for (let i = 0; i < cross.length; i++) cross[i] = (cross[i] ?? 0) + (added?.[i] ?? 0)
    }
  }

  set(original: Float64Array, voices: readonly Float64Array[]): void {
    for (let bin = 0; bin < BINS; bin++) {
      const re = original[2 * bin] ?? 0
      const im = original[2 * bin + 1] ?? 0
      this.power[bin] = re * re + im * im
    }
    for (const [v, cross] of this.crosses.entries()) {
      const voice = voices[v] ?? original
      for (let bin = 0; bin < BINS; bin++) {
        const re = original[2 * bin] ?? 0
        const im = original[2 * bin + 1] ?? 0
        const voiceRe = voice[2 * bin] ?? 0
        const voiceIm = voice[2 * bin + 1] ?? 0
        cross[2 * bin] = voiceRe * re + voiceIm * im
        cross[2 * bin + 1] = voiceIm * re - voiceRe * im
      }
    }
  }
}

/** One channel on its way. Two signals at a time share a transform, there and back. */
class Track {
  readonly sums: Sums
  readonly own: Evidence
  readonly #heard: InputChannel
  readonly #change: Float32Array
  /** The original's spectrum in the window last heard, and each voice's. */
  readonly #original = new Float64Array(2 * BINS)
  readonly #voices: readonly Float64Array[]
  readonly #changed = new Float64Array(2 * BINS)
  readonly #paired = new Float64Array(2 * WINDOW_SAMPLES)
  readonly #starts: number[] = []
  #start = 0

  constructor(heard: InputChannel, voiceCount: number, frames: number) {
    this.#heard = heard
    this.#change = new Float32Array(heard.original.length)
    this.#voices = heard.voices.map(() => new Float64Array(2 * BINS))
    this.sums = new Sums(voiceCount)
    this.own = emptyEvidence(frames)
  }

  hear(frame: number, together: Sums): void {
    this.#start = (frame - 1) * HOP_SAMPLES
    const [first, second] = this.#heard.voices
    this.#transform(this.#heard.original, first, this.#original, this.#voices[0])
    if (second) this.#transform(second, undefined, this.#voices[1], undefined)
    this.sums.set(this.#original, this.#voices)
    together.add(this.sums)
  }

  #transform(
    real: Float32Array,
    imaginary: Float32Array | undefined,
    realSpectrum: Float64Array = unused,
    imaginarySpectrum: Float64Array = unused,
  ): void {
    const start = this.#start
    for (let i = 0; i < WINDOW_SAMPLES; i++) {
      const inside = start + i >= 0 && start + i < real.length
      const weight = WINDOW[i] ?? 0
      packed[2 * i] = inside ? (real[start + i] ?? 0) * weight : 0
      packed[2 * i + 1] = inside && imaginary ? (imaginary[start + i] ?? 0) * weight : 0
    }
    fft.transform(spectrum, packed)
    splitPair(spectrum, realSpectrum, imaginarySpectrum)
  }

  change(gain: Float64Array): void {
    for (let bin = 0; bin < BINS; bin++) {
      const re = this.#original[2 * bin] ?? 0
      const im = this.#original[2 * bin + 1] ?? 0
      const gainRe = (gain[2 * bin] ?? 0) - 1
      const gainIm = gain[2 * bin + 1] ?? 0
      this.#changed[2 * bin] = re * gainRe - im * gainIm
      this.#changed[2 * bin + 1] = re * gainIm + im * gainRe
    }
    addPair(this.#paired, this.#changed, this.#starts.length === 0 ? 'first' : 'second')
    this.#starts.push(this.#start)
    if (this.#starts.length === 2) this.#flush()
  }

  finished(): Float32Array {
    this.#flush()
    return this.#change
  }

  #flush(): void {
    if (this.#starts.length > 0) fft.inverseTransform(samples, this.#paired)
    for (const [part, start] of this.#starts.entries()) {
      const to = Math.min(WINDOW_SAMPLES, this.#change.length - start)
      for (let i = Math.max(0, -start); i < to; i++) {
        this.#change[start + i] = (this.#change[start + i] ?? 0) + (samples[2 * i + part] ?? 0) * (WINDOW[i] ?? 0)
      }
    }
    this.#starts.length = 0
  }
}

/** A frame's powers as mean squares of a channel. */
function record(evidence: Evidence, frame: number, found: { kept: number; removed: number }, channels: number): void {
  evidence.kept[frame] = (found.kept * TO_MEAN_SQUARE) / channels
  evidence.removed[frame] = (found.removed * TO_MEAN_SQUARE) / channels
}

function copyFrame(from: Evidence, to: Evidence, frame: number): void {
  to.kept[frame] = from.kept[frame] ?? 0
  to.removed[frame] = from.removed[frame] ?? 0
}
