import type { FrameEvidence, FrameGain, FrameSums } from '../restore/frame-gain.js'
import { HOP_SEC } from '../restore/spectral-change.js'

/** By how much a bed is lowered. More cannot be taken out under speech without hurting the voice. */
export const BED_LOWER_DB = 6

const LOWERED_POWER = 10 ** (-BED_LOWER_DB / 10)
/** The spectrum of the bed follows its chords. */
const FORGET = Math.exp(-HOP_SEC / 0.4)
/** So much of the bed's power is taken out of a bin before the rest counts as voice. */
const OVER_SUBTRACTION = 2
/** Sounds that let more of the bed pass are made up for within this time, by at most 3 dB. */
const REPAY = Math.exp(-HOP_SEC / 0.2)
const LEAST_POWER = LOWERED_POWER / 2
const NO_POWER = 1e-18

/**
 * Lowers the bed under a voice by {@link BED_LOWER_DB}, evenly. The models leave more music under speech than in pauses, so
 * music would pump. Here each frame gets a floor for its gain, such that the power of the whole bed falls by the same
 * amount in every frame. The spectrum of the bed is learnt from the bins in which the models find no voice.
 *
 * Frames must be passed in order, each once.
 */
export class BedGain implements FrameGain {
  readonly voiceCount: number
  readonly correctsFaults = false
  readonly #models: FrameGain
  #bed = new Float64Array(0)
  #weights = new Float64Array(0)
  /** Power of the bed that is left beyond the wanted share, in shares of the bed. */
  #excess = 0

  constructor(models: FrameGain) {
    this.#models = models
    this.voiceCount = models.voiceCount
  }

  find(sums: FrameSums, gain: Float64Array): FrameEvidence {
    const evidence = this.#models.find(sums, gain)
    const { power } = sums
    if (this.#bed.length === 0) {
      this.#bed = new Float64Array(power.length)
      this.#weights = new Float64Array(power.length)
    }
    let [unvoiced, mixed, voiced] = [0, 0, NO_POWER]
    for (let bin = 0; bin < power.length; bin++) {
      const heard = (power[bin] ?? 0) + NO_POWER
      const found = Math.min(1, Math.max(0, gain[2 * bin] ?? 0))
      const music = this.#learn(bin, heard, (1 - found) ** 2)
      const voice = found * Math.sqrt(Math.max(0, 1 - (OVER_SUBTRACTION * music) / heard))
      unvoiced += music * (1 - voice) ** 2
      mixed += music * (1 - voice) * voice
      voiced += music * voice * voice
      gain[2 * bin] = voice
      gain[2 * bin + 1] = 0
    }
    const whole = unvoiced + 2 * mixed + voiced
    const wanted = Math.max(LEAST_POWER, LOWERED_POWER - this.#excess) * whole
    const floor = lowestGain(unvoiced, mixed, voiced - wanted)
    const left = (unvoiced * floor + 2 * mixed) * floor + voiced
    this.#excess = REPAY * (this.#excess + (left / whole - LOWERED_POWER))
    for (let bin = 0; bin < power.length; bin++) {
      const voice = gain[2 * bin] ?? 0
      gain[2 * bin] = voice + (1 - voice) * floor
    }
    return evidence
  }

  /** Power of the bed in a bin, from the frames without a voice. */
  #learn(bin: number, heard: number, weight: number): number {
    const bed = FORGET * (this.#bed[bin] ?? 0) + weight * heard
    const weights = FORGET * (this.#weights[bin] ?? 0) + weight
    this.#bed[bin] = bed
    this.#weights[bin] = weights
    return bed / (weights + NO_POWER)
  }
}

/** The root of `a·x² + 2·b·x + c` between 0 and 1. It is 0 if the voice alone lets more of the bed pass. */
function lowestGain(a: number, b: number, c: number): number {
  if (a <= 0 || c >= 0) return 0
  return Math.min(1, (Math.sqrt(b * b - a * c) - b) / a)
}
