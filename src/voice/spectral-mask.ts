import FFT from 'fft.js'
import type { MaskSettings } from './mask-settings.js'

/** Window of the mask: 21 ms at 48 kHz, half overlapped. */
export const WINDOW_SAMPLES = 1024
export const HOP_SAMPLES = WINDOW_SAMPLES / 2

const BINS = WINDOW_SAMPLES / 2 + 1
const BIN_HZ = 48_000 / WINDOW_SAMPLES

/** Square root of a Hann window: applied before and after, overlapped by half, it adds up to 1. */
const WINDOW = Float64Array.from({ length: WINDOW_SAMPLES }, (_, i) => Math.sin((Math.PI * i) / WINDOW_SAMPLES))

/**
 * Applies to the original what a model did to it, as a gain in time and frequency.
 *
 * The model's own output has its high-pass's phase and its pitch filter's errors in it; the gain it stands for,
 * laid on the original, has neither, and can be dosed. All channels get one gain, so that the stereo image stays.
 *
 * @param original the channels, 48 kHz
 * @param voices what the model made of each, of the same length and in the same place
 * @param strength 0 (leave alone) … 1 at a sample position
 * @returns new channels of the same length
 */
export function applyMask(
  original: readonly Float32Array[],
  voices: readonly Float32Array[],
  settings: MaskSettings,
  strength: (sample: number) => number,
): Float32Array[] {
  const length = original[0]?.length ?? 0
  const results = original.map((channel) => channel.slice())
  const fft = new FFT(WINDOW_SAMPLES)
  const packed = new Float64Array(2 * WINDOW_SAMPLES)
  const spectra = original.map(() => new Float64Array(2 * WINDOW_SAMPLES))
  const inverse = new Float64Array(2 * WINDOW_SAMPLES)
  const product = new Float64Array(BINS)
  const power = new Float64Array(BINS)
  const change = new Float64Array(BINS)

  for (let start = HOP_SAMPLES - WINDOW_SAMPLES; start < length; start += HOP_SAMPLES) {
    const wet = strength(start + HOP_SAMPLES)
    // Nothing to mend: the samples stay as they are, to the bit.
    if (wet === 0) continue
    product.fill(0)
    power.fill(0)
    for (const [channel, spectrum] of spectra.entries()) {
      pack(packed, original[channel] ?? EMPTY, voices[channel] ?? EMPTY, start)
      fft.transform(spectrum, packed)
      accumulate(spectrum, product, power)
    }
    changeOf(product, power, change, wet, settings)
    for (const [channel, spectrum] of spectra.entries()) {
      weigh(spectrum, change)
      fft.inverseTransform(inverse, spectrum)
      const result = results[channel] ?? EMPTY
      const from = Math.max(0, -start)
      const to = Math.min(WINDOW_SAMPLES, length - start)
      for (let i = from; i < to; i++) {
        result[start + i] = (result[start + i] ?? 0) + (inverse[2 * i] ?? 0) * (WINDOW[i] ?? 0)
      }
    }
  }
  return results
}

const EMPTY = new Float32Array(0)

/** Two real signals make one complex transform: the original its real part, the model's voice its imaginary. */
function pack(packed: Float64Array, original: Float32Array, voice: Float32Array, start: number): void {
  for (let i = 0; i < WINDOW_SAMPLES; i++) {
    const weight = WINDOW[i] ?? 0
    packed[2 * i] = (original[start + i] ?? 0) * weight
    packed[2 * i + 1] = (voice[start + i] ?? 0) * weight
  }
}

/** Adds each bin's power and its likeness to the model's voice; leaves the original's spectrum in the lower half. */
function accumulate(spectrum: Float64Array, product: Float64Array, power: Float64Array): void {
  for (let bin = 0; bin < BINS; bin++) {
    const mirror = (WINDOW_SAMPLES - bin) % WINDOW_SAMPLES
    const re = spectrum[2 * bin] ?? 0
    const im = spectrum[2 * bin + 1] ?? 0
    const mirrorRe = spectrum[2 * mirror] ?? 0
    const mirrorIm = spectrum[2 * mirror + 1] ?? 0
    const originalRe = (re + mirrorRe) / 2
    const originalIm = (im - mirrorIm) / 2
    const voiceRe = (im + mirrorIm) / 2
    const voiceIm = (mirrorRe - re) / 2
    product[bin] = (product[bin] ?? 0) + voiceRe * originalRe + voiceIm * originalIm
    power[bin] = (power[bin] ?? 0) + originalRe * originalRe + originalIm * originalIm
    spectrum[2 * bin] = originalRe
    spectrum[2 * bin + 1] = originalIm
  }
}

/** By how much each bin is to change: the gain less 1. What is added to the original, rather than put in its place. */
function changeOf(
  product: Float64Array,
  power: Float64Array,
  change: Float64Array,
  wet: number,
  settings: MaskSettings,
): void {
  const { exponent, floor, highPassHz, modelBandHz } = settings
  const highPassBin = Math.ceil(highPassHz / BIN_HZ)
  const topBin = Math.floor(modelBandHz / BIN_HZ)
  const referenceBin = Math.floor((modelBandHz * 0.75) / BIN_HZ)
  let referenceProduct = 0
  let referencePower = 0
  for (let bin = referenceBin; bin < topBin; bin++) {
    referenceProduct += product[bin] ?? 0
    referencePower += power[bin] ?? 0
  }
  const top = shaped(referenceProduct, referencePower, exponent, floor)
  for (let bin = 0; bin < BINS; bin++) {
    const full =
      bin < highPassBin ? 0 : bin < topBin ? shaped(product[bin] ?? 0, power[bin] ?? 0, exponent, floor) : top
    change[bin] = wet * (full - 1)
  }
}

function shaped(product: number, power: number, exponent: number, floor: number): number {
  const ratio = Math.min(1, Math.max(0, product / (power + 1e-18)))
  return Math.max(floor, ratio ** exponent)
}

/** Weighs the lower half and mirrors it, so that the inverse transform is real. */
function weigh(spectrum: Float64Array, weights: Float64Array): void {
  for (let bin = 0; bin < BINS; bin++) {
    const weight = weights[bin] ?? 0
    const re = (spectrum[2 * bin] ?? 0) * weight
    const im = (spectrum[2 * bin + 1] ?? 0) * weight
    const mirror = (WINDOW_SAMPLES - bin) % WINDOW_SAMPLES
    spectrum[2 * mirror] = re
    spectrum[2 * mirror + 1] = -im
    spectrum[2 * bin] = re
    spectrum[2 * bin + 1] = im
  }
}
