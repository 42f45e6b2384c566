import FFT from 'fft.js'
import { splitPair } from '../restore/spectrum-pair.js'

/** Samples a second of the sound that is searched for tones. */
export const TONE_RATE = 8_000
/** Samples between two frames: 80 ms, so that the frames of all blocks lie alike. */
export const TONE_HOP = 640
/** Window of the transforms: a quarter of a second tells the notes of a chord apart. */
const WINDOW_SAMPLES = 2048
const BIN_HZ = TONE_RATE / WINDOW_SAMPLES
const LOWEST_BIN = Math.ceil(80 / BIN_HZ)
const HIGHEST_BIN = Math.floor(3400 / BIN_HZ)

/** A peak rises so far above the mean power beside it: 12 dB. */
const PROMINENCE = 16
/** The bins beside a peak: further away than its own width. */
const BESIDE_FROM = 4
const BESIDE_TO = 14
/** A tone is steady if it stays so near to its mean frequency. A voice glides further. */
const SPREAD_HZ = 2
const SPREAD_SHARE = 0.002
const LEAST_FRAMES = 3

const HANN = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / WINDOW_SAMPLES),
)

/** A peak that is found again from frame to frame. */
interface Tone {
  readonly start: number
  frames: number
  sumHz: number
}

/** The tones that stay steady for a quarter of a second, frame by frame. @param sound at {@link TONE_RATE} */
export function steadyTones(sound: Float32Array): number[][] {
  const steady: number[][] = Array.from({ length: Math.ceil(sound.length / TONE_HOP) + 1 }, () => [])
  const finish = ({ start, frames, sumHz }: Tone) => {
    if (frames < LEAST_FRAMES) return
    for (let frame = start; frame < start + frames; frame++) steady[frame]?.push(sumHz / frames)
  }
  let open: Tone[] = []
  for (const [frame, peaks] of peaksOf(sound, steady.length)) {
    const next = peaks.map((hz) => {
      const tone = nearest(open, hz) ?? { start: frame, frames: 0, sumHz: 0 }
      open = open.filter((other) => other !== tone)
      tone.frames++
      tone.sumHz += hz
      return tone
    })
    for (const tone of open) finish(tone)
    open = next
  }
  for (const tone of open) finish(tone)
  return steady
}

function nearest(tones: readonly Tone[], hz: number): Tone | undefined {
  let best: Tone | undefined
  let least = SPREAD_HZ + SPREAD_SHARE * hz
  for (const tone of tones) {
    const distance = Math.abs(tone.sumHz / tone.frames - hz)
    if (distance >= least) continue
    least = distance
    best = tone
  }
  return best
}

/** The frequencies of the peaks of each frame. Two frames share a transform. */
function* peaksOf(sound: Float32Array, frames: number): Generator<[frame: number, peaks: number[]]> {
  const fft = new FFT(WINDOW_SAMPLES)
  const packed = new Float64Array(2 * WINDOW_SAMPLES)
  const pair = new Float64Array(2 * WINDOW_SAMPLES)
  const spectra = [new Float64Array(WINDOW_SAMPLES + 2), new Float64Array(WINDOW_SAMPLES + 2)] as const
  for (let frame = 0; frame < frames; frame += 2) {
    for (let i = 0; i < WINDOW_SAMPLES; i++) {
      const at = frame * TONE_HOP - WINDOW_SAMPLES / 2 + i
      packed[2 * i] = (sound[at] ?? 0) * (HANN[i] ?? 0)
      packed[2 * i + 1] = (sound[at + TONE_HOP] ?? 0) * (HANN[i] ?? 0)
    }
    fft.transform(pair, packed)
    splitPair(pair, ...spectra)
    yield [frame, peaksIn(spectra[0])]
    if (frame + 1 < frames) yield [frame + 1, peaksIn(spectra[1])]
  }
}

const power = new Float64Array(HIGHEST_BIN + BESIDE_TO)

function peaksIn(spectrum: Float64Array): number[] {
  for (let bin = 0; bin < power.length; bin++) {
    power[bin] = (spectrum[2 * bin] ?? 0) ** 2 + (spectrum[2 * bin + 1] ?? 0) ** 2
  }
  const peaks: number[] = []
  for (let bin = LOWEST_BIN; bin < HIGHEST_BIN; bin++) {
    const left = power[bin - 1] ?? 0
    const middle = power[bin] ?? 0
    const right = power[bin + 1] ?? 0
    if (middle <= left || middle < right) continue
    let beside = 0
    for (let k = BESIDE_FROM; k < BESIDE_TO; k++) beside += (power[bin - k] ?? 0) + (power[bin + k] ?? 0)
    if (middle <= (PROMINENCE * beside) / (2 * (BESIDE_TO - BESIDE_FROM))) continue
    peaks.push((bin + vertex(Math.log(left), Math.log(middle), Math.log(right))) * BIN_HZ)
  }
  return peaks
}

/** Place of the top of the parabola through three values, relative to the middle one. */
function vertex(left: number, middle: number, right: number): number {
  const bend = left - 2 * middle + right
  return Number.isFinite(bend) && bend !== 0 ? (left - right) / (2 * bend) : 0
}
