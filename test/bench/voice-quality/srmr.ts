import FFT from 'fft.js'
import { resample } from './resample.js'

const RATE = 16_000
const BANDS = 23
const LOWEST_HZ = 125
const ENVELOPE_RATE = 400
/** Centres of the eight modulation filters, 4 to 128 Hz; the first four belong to speech. */
const MODULATIONS_HZ = Array.from({ length: 8 }, (_, i) => 4 * 2 ** ((5 * i) / 7))
const FRAME = 102
const HOP = 26

/**
 * Speech-to-reverberation modulation energy ratio (Falk, Zheng and Chan, "A Non-Intrusive Quality and Intelligibility
 * Measure of Reverberant and Dereverberated Speech", 2010): modulation of 4 to 18 Hz over that of 29 to 128 Hz. More is
 * drier. The cochlea's filters and the modulation filters are applied as curves over spectra.
 */
export function srmr(samples: Float32Array, sampleRate: number): number {
  const sound = resample(samples, sampleRate, RATE)
  const size = 2 ** Math.ceil(Math.log2(sound.length))
  const fft = new FFT(size)
  const spectrum = new Float64Array(2 * size)
  const padded = new Float64Array(size)
  padded.set(sound)
  fft.realTransform(spectrum, padded)
  let [speech, room] = [0, 0]
  for (let band = 0; band < BANDS; band++) {
    const energies = modulationEnergies(envelopeOf(spectrum, fft, centreHz(band), sound.length))
    for (const [i, energy] of energies.entries()) {
      if (i < 4) speech += energy
      else room += energy
    }
  }
  return speech / room
}

/** Centres evenly spaced in equivalent rectangular bandwidths. */
function centreHz(band: number): number {
  const erb = (hz: number) => 21.4 * Math.log10(1 + 0.00437 * hz)
  const [low, high] = [erb(LOWEST_HZ), erb(RATE / 2)]
  return (10 ** ((low + ((high - low) * band) / BANDS) / 21.4) - 1) / 0.00437
}

/** Magnitude of the analytic signal behind a gammatone filter of the fourth order, at {@link ENVELOPE_RATE}. */
function envelopeOf(spectrum: Float64Array, fft: FFT, centre: number, length: number): Float64Array {
  const size = spectrum.length / 2
  const bandwidth = 1.019 * 24.7 * (1 + 0.00437 * centre)
  const filtered = new Float64Array(2 * size)
  for (let bin = 1; bin < size / 2; bin++) {
    const distance = ((bin * RATE) / size - centre) / bandwidth
    const gain = 2 / (1 + distance * distance) ** 2
    filtered[2 * bin] = gain * (spectrum[2 * bin] ?? 0)
    filtered[2 * bin + 1] = gain * (spectrum[2 * bin + 1] ?? 0)
  }
  const analytic = new Float64Array(2 * size)
  fft.inverseTransform(analytic, filtered)
  const step = RATE / ENVELOPE_RATE
  return Float64Array.from({ length: Math.floor(length / step) }, (_, frame) => {
    let sum = 0
    for (let i = frame * step; i < (frame + 1) * step; i++)
      sum += Math.hypot(analytic[2 * i] ?? 0, analytic[2 * i + 1] ?? 0)
    return sum / step
  })
}

/** Mean energy behind each modulation filter (second order, quality 2), over frames of 256 ms. */
function modulationEnergies(envelope: Float64Array): number[] {
  const frames = Math.max(1, Math.floor((envelope.length - FRAME) / HOP) + 1)
  return MODULATIONS_HZ.map((centre) => {
    const filtered = bandPass(envelope, centre)
    let sum = 0
    for (let frame = 0; frame < frames; frame++) {
      for (let i = 0; i < FRAME; i++) {
        const weight = 0.54 - 0.46 * Math.cos((2 * Math.PI * i) / (FRAME - 1))
        sum += ((filtered[frame * HOP + i] ?? 0) * weight) ** 2
      }
    }
    return sum / frames
  })
}

function bandPass(values: Float64Array, centreHz: number): Float64Array {
  const k = Math.tan((Math.PI * centreHz) / ENVELOPE_RATE)
  const norm = 1 / (1 + k / 2 + k * k)
  const [b, a1, a2] = [(k / 2) * norm, 2 * (k * k - 1) * norm, (1 - k / 2 + k * k) * norm]
  let [x1, x2, y1, y2] = [0, 0, 0, 0]
  return values.map((x) => {
    const y = b * (x - x2) - a1 * y1 - a2 * y2
    ;[x2, x1, y2, y1] = [x1, x, y1, y]
    return y
  })
}
