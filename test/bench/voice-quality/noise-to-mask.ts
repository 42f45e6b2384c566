import FFT from 'fft.js'

const FRAME = 2048
const HOP = 1024
const BANDS = 25
/** Masking of a tone by noise. That of noise by a tone is stricter, and the same for whatever is compared. */
const OFFSET_DB = 14
/** Slopes of the spread of masking to lower and to higher bands, in dB a Bark. */
const [DOWN_DB, UP_DB] = [27, 12]

const WINDOW = Float64Array.from({ length: FRAME }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / FRAME))
const SPREAD = Array.from({ length: BANDS }, (_, to) =>
  Array.from({ length: BANDS }, (_, from) => 10 ** (-(to < from ? DOWN_DB * (from - to) : UP_DB * (to - from)) / 10)),
)

/**
 * Noise-to-mask ratio in dB: how far the error lies above what the sound masks, as in ITU-R BS.1387 but with a simpler
 * spread. Less is better. Both sounds have one length.
 */
export function noiseToMask(
  sound: Float32Array,
  coded: Float32Array,
  sampleRate: number,
): { readonly meanDb: number; readonly worstDb: number } {
  const errors = sound.map((sample, i) => sample - (coded[i] ?? 0))
  const noise = bandPowers(errors, sampleRate)
  const ratios = bandPowers(sound, sampleRate).map((powers, frame) => {
    const masks = SPREAD.map((row) => row.reduce((sum, weight, from) => sum + weight * (powers[from] ?? 0), 0))
    const over = masks.map((mask, band) => (noise[frame]?.[band] ?? 0) / (mask * 10 ** (-OFFSET_DB / 10) + HEARING))
    return over.reduce((sum, ratio) => sum + ratio, 0) / BANDS
  })
  const sorted = [...ratios].sort((one, other) => one - other)
  const db = (ratio = Number.NaN) => 10 * Math.log10(ratio)
  return {
    meanDb: db(ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length),
    worstDb: db(sorted[Math.floor(0.95 * sorted.length)]),
  }
}

/** A power under which nothing is heard: about that of 16-bit noise in a band. */
const HEARING = 1e-5

/** Power in each Bark band of each frame. */
function bandPowers(samples: Float32Array, sampleRate: number): readonly Float64Array[] {
  const fft = new FFT(FRAME)
  const spectrum = new Float64Array(2 * FRAME)
  const bands = Uint8Array.from({ length: FRAME / 2 }, (_, bin) => barkOf((bin * sampleRate) / FRAME))
  const frames: Float64Array[] = []
  for (let start = 0; start + FRAME <= samples.length; start += HOP) {
    fft.realTransform(
      spectrum,
      WINDOW.map((weight, i) => weight * (samples[start + i] ?? 0)),
    )
    const powers = new Float64Array(BANDS)
    for (const [bin, band] of bands.entries()) {
      const power = (spectrum[2 * bin] ?? 0) ** 2 + (spectrum[2 * bin + 1] ?? 0) ** 2
      powers[band] = (powers[band] ?? 0) + power
    }
    frames.push(powers)
  }
  return frames
}

function barkOf(hertz: number): number {
  return Math.min(BANDS - 1, Math.floor(13 * Math.atan(0.00076 * hertz) + 3.5 * Math.atan((hertz / 7500) ** 2)))
}
