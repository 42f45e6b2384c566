const RATE = 48_000

/** Deterministic noise in [-1, 1): the same seed, the same noise. */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 31 - 1
  }
}

export interface MadeSpeech {
  readonly clean: Float32Array
  readonly noisy: Float32Array
}

/**
 * Something with speech's structure, for guards that must run where no recording is: a gliding voice through three
 * moving formants in syllables of a fifth of a second with pauses, and the same in steady noise. 48 kHz, mono.
 */
export function noisySpeech(sampleCount: number, { noiseGain, seed }: { noiseGain: number; seed: number }): MadeSpeech {
  const random = randomSource(seed)
  const clean = new Float32Array(sampleCount)
  const formants = [new Resonator(), new Resonator(), new Resonator()]
  let phase = 0
  for (let i = 0; i < sampleCount; i++) {
    const sec = i / RATE
    const syllable = Math.floor(sec / 0.22)
    const inSyllable = (sec / 0.22) % 1
    const pause = syllable % 9 >= 7
    const envelope = pause ? 0 : Math.sin(Math.PI * inSyllable) ** 0.7
    const pitchHz = 115 + 25 * Math.sin(2 * Math.PI * 0.45 * sec) + 10 * Math.sin(syllable * 2.1)
    phase = (phase + pitchHz / RATE) % 1
    const source = (phase < 0.4 ? Math.sin((Math.PI * phase) / 0.4) : -0.35) * envelope + random() * 0.02 * envelope
    const vowel = [500 + 250 * Math.sin(syllable * 1.7), 1400 + 500 * Math.sin(syllable * 2.9), 2700]
    let value = 0
    for (const [k, formant] of formants.entries()) value += formant.step(source, vowel[k] ?? 0, 80 + 40 * k) / (k + 1)
    clean[i] = value * 0.2
  }
  const noisy = clean.map((value) => value + random() * noiseGain)
  return { clean, noisy }
}

/** A formant: two poles. */
class Resonator {
  #a = 0
  #b = 0

  step(input: number, frequencyHz: number, bandwidthHz: number): number {
    const radius = Math.exp((-Math.PI * bandwidthHz) / RATE)
    const value =
      (1 - radius) * input +
      2 * radius * Math.cos((2 * Math.PI * frequencyHz) / RATE) * this.#a -
      radius * radius * this.#b
    this.#b = this.#a
    this.#a = value
    return value
  }
}
