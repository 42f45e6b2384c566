import { randomSource } from '../../helpers/sound/made-speech.js'

/** Kinds of noise that can be made anywhere; babble is made of other people's speech. */
export const NOISE_KINDS = ['white', 'pink', 'brown', 'hum', 'babble', 'clicks'] as const
export type NoiseKind = (typeof NOISE_KINDS)[number]

export interface NoiseOptions {
  readonly sampleRate: number
  readonly seed: number
  /** Recordings at the same rate to make babble of; without any, babble is silent. */
  readonly others: readonly Float32Array[]
}

/** So many samples of a kind of noise, at no particular level. The same seed, the same noise. */
export function makeNoise(kind: NoiseKind, length: number, options: NoiseOptions): Float32Array {
  const random = randomSource(options.seed)
  switch (kind) {
    case 'white':
      return Float32Array.from({ length }, random)
    case 'pink':
      return pink(length, random)
    case 'brown':
      return brown(length, random)
    case 'hum':
      return hum(length, options.sampleRate, random)
    case 'babble':
      return babble(length, options.others, random)
    case 'clicks':
      return clicks(length, options.sampleRate, random)
    default:
      return kind satisfies never
  }
}

/** Speech and noise, with the noise so many dB under it. */
export function mixAt(snrDb: number, speech: Float32Array, noise: Float32Array): Float32Array {
  const power = (samples: Float32Array) => samples.reduce((sum, value) => sum + value * value, 0)
  const gain = Math.sqrt(power(speech) / Math.max(power(noise), 1e-12)) * 10 ** (-snrDb / 20)
  return speech.map((value, i) => value + gain * (noise[i] ?? 0))
}

/** −3 dB an octave: the sum of three slow filters (Kellet's economy method). */
function pink(length: number, random: () => number): Float32Array {
  let [a, b, c] = [0, 0, 0]
  return Float32Array.from({ length }, () => {
    const white = random()
    a = 0.99765 * a + white * 0.099046
    b = 0.963 * b + white * 0.2965164
    c = 0.57 * c + white * 1.0526913
    return a + b + c + white * 0.1848
  })
}

function brown(length: number, random: () => number): Float32Array {
  let level = 0
  return Float32Array.from({ length }, () => {
    level = 0.998 * level + random()
    return level
  })
}

/** Mains hum with its harmonics, and a little hiss. */
function hum(length: number, sampleRate: number, random: () => number): Float32Array {
  return Float32Array.from({ length }, (_, i) => {
    let value = 0.02 * random()
    for (let harmonic = 1; harmonic <= 12; harmonic++) {
      value += Math.sin((2 * Math.PI * 50 * harmonic * i) / sampleRate + harmonic) / harmonic
    }
    return value
  })
}

/** Six voices that talk at once. */
function babble(length: number, others: readonly Float32Array[], random: () => number): Float32Array {
  const out = new Float32Array(length)
  for (let voice = 0; voice < 6; voice++) {
    const other = others[voice % Math.max(1, others.length)]
    if (!other) continue
    const from = Math.floor((0.5 + 0.5 * random()) * other.length)
    for (let i = 0; i < length; i++) out[i] = (out[i] ?? 0) + (other[(from + i) % other.length] ?? 0)
  }
  return out
}

/** A few short knocks a second over faint hiss. */
function clicks(length: number, sampleRate: number, random: () => number): Float32Array {
  const out = Float32Array.from({ length }, () => 0.01 * random())
  for (let at = 0; at < length; at += Math.floor(sampleRate * (0.15 + 0.2 * Math.abs(random())))) {
    const decay = sampleRate * 0.002
    for (let i = 0; i < 8 * decay && at + i < length; i++) {
      out[at + i] = (out[at + i] ?? 0) + random() * Math.exp(-i / decay)
    }
  }
  return out
}
