import FFT from 'fft.js'
import { addPair } from '../restore/spectrum-pair.js'

/** Window of the transforms: 32 ms at 16 kHz, overlapped by three quarters. */
const WINDOW_SAMPLES = 512
export const SPECTRUM_HOP = 128
const BINS = WINDOW_SAMPLES / 2 + 1

const OVERLAP = WINDOW_SAMPLES / SPECTRUM_HOP
/** Square root of a Hann window: applied before and after, overlapped by three quarters, it adds up to 2. */
const WINDOW = Float64Array.from({ length: WINDOW_SAMPLES }, (_, i) => Math.sin((Math.PI * (i + 0.5)) / WINDOW_SAMPLES))

const fft = new FFT(WINDOW_SAMPLES)
const packed = new Float64Array(2 * WINDOW_SAMPLES)
const spectrum = new Float64Array(2 * WINDOW_SAMPLES)
const first = new Float64Array(2 * BINS)
const second = new Float64Array(2 * BINS)

/** Every bin of a transform. */
export const ALL_BINS: readonly number[] = Array.from({ length: BINS }, (_, bin) => bin)

/**
 * Transforms a sound at 16 kHz. The first window ends a hop after the start, and the last one begins a hop before the end.
 *
 * @param bins numbers of the bins to keep
 * @returns for each bin the pairs of real and imaginary part, frame by frame
 */
export function shortSpectra(samples: Float32Array, bins: readonly number[]): Float64Array[] {
  const frames = Math.ceil(samples.length / SPECTRUM_HOP) + OVERLAP - 1
  const rows = bins.map(() => new Float64Array(2 * frames))
  // Silence on both sides. A look outside of an array makes garbage for each sample.
  const lead = (OVERLAP - 1) * SPECTRUM_HOP
  const padded = new Float32Array((frames + OVERLAP + 1) * SPECTRUM_HOP)
  padded.set(samples, lead)
  for (let frame = 0; frame < frames; frame += 2) {
    packPair(padded, frame * SPECTRUM_HOP)
    fft.transform(spectrum, packed)
    for (let i = 0; i < rows.length; i++) splitInto(rows[i] as Float64Array, frame, bins[i] as number)
  }
  return rows
}

/** Puts two frames, a hop apart, under the window. */
function packPair(samples: Float32Array, start: number): void {
  for (let i = 0; i < WINDOW_SAMPLES; i++) {
    const weight = WINDOW[i] as number
    packed[2 * i] = (samples[start + i] as number) * weight
    packed[2 * i + 1] = (samples[start + SPECTRUM_HOP + i] as number) * weight
  }
}

/** Takes one bin of two frames out of their common spectrum: as `splitPair`, which takes all bins. */
function splitInto(row: Float64Array, frame: number, bin: number): void {
  const mirror = bin === 0 ? 0 : 2 * (WINDOW_SAMPLES - bin)
  const re = spectrum[2 * bin] ?? 0
  const im = spectrum[2 * bin + 1] ?? 0
  const mirrorRe = spectrum[mirror] ?? 0
  const mirrorIm = spectrum[mirror + 1] ?? 0
  row[2 * frame] = (re + mirrorRe) / 2
  row[2 * frame + 1] = (im - mirrorIm) / 2
  // A typed array ignores what lies behind its end: the last pair may be half.
  row[2 * frame + 2] = (im + mirrorIm) / 2
  row[2 * frame + 3] = (mirrorRe - re) / 2
}

/** The sound of so many samples that has these spectra, {@link ALL_BINS} of them. */
export function soundOf(rows: readonly Float64Array[], length: number): Float32Array<ArrayBuffer> {
  const sound = new Float32Array(length)
  const frames = (rows[0]?.length ?? 0) / 2
  for (let frame = 0; frame < frames; frame += 2) {
    for (const [bin, row] of rows.entries()) {
      first[2 * bin] = row[2 * frame] ?? 0
      first[2 * bin + 1] = row[2 * frame + 1] ?? 0
      second[2 * bin] = row[2 * frame + 2] ?? 0
      second[2 * bin + 1] = row[2 * frame + 3] ?? 0
    }
    addPair(packed, first, 'first')
    addPair(packed, second, 'second')
    fft.inverseTransform(spectrum, packed)
    for (const part of [0, 1]) {
      const start = (frame + part + 1 - OVERLAP) * SPECTRUM_HOP
      const to = Math.min(WINDOW_SAMPLES, length - start)
      for (let i = Math.max(0, -start); i < to; i++) {
        sound[start + i] = (sound[start + i] ?? 0) + ((spectrum[2 * i + part] ?? 0) * (WINDOW[i] ?? 0) * 2) / OVERLAP
      }
    }
  }
  return sound
}
