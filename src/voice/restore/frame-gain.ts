/** Values from which the gain of one frame is computed, bin by bin; a sum over the channels that share a gain. */
export interface FrameSums {
  /** Power of the original. */
  readonly power: Float64Array
  /** For each voice: its spectrum times the original's conjugate, in pairs of real and imaginary part. */
  readonly crosses: readonly Float64Array[]
}

/** How much of a frame the models leave, and how much all of them take out: powers, in the band that they know. */
export interface FrameEvidence {
  readonly kept: number
  readonly removed: number
}

/** Below this a voice has nothing: DC and rumble go out with the noise. */
const LOWEST_VOICE_HZ = 50
/** Sound below this is not evidence of noise: a step of the microphone is not background. */
const LOWEST_EVIDENCE_HZ = 100
/** A model may take so much of a bin for nothing: good voice loses a little in every bin. */
const TOLERATED_LOSS = 0.25
/** How much less is left of a bin if the models are of opposite opinion: such a bin is mostly noise. */
const DISAGREEMENT_LOSS = 0.3
const NO_POWER = 1e-18

/** Turns what the models did to a spectrum into one complex gain for each bin. */
export interface FrameGain {
  /** How many voices it is found from. */
  readonly voiceCount: number
  /** True if rumble, hum, clipping and reverberation are corrected as well, whatever the models find. */
  readonly correctsFaults: boolean
  /** Fills `gain` (pairs of real and imaginary part) and says what it stands on. */
  find(sums: FrameSums, gain: Float64Array): FrameEvidence
}

/** One model at its word: below `bandHz` its own spectrum, above it the mean gain of the band's top quarter. */
export class OwnGain implements FrameGain {
  readonly voiceCount = 1
  readonly correctsFaults = false
  readonly #bandBin: number
  readonly #bins: FixedBins

  /** @param binHz width of a bin */
  constructor(binHz: number, bandHz: number) {
    this.#bandBin = Math.floor(bandHz / binHz)
    this.#bins = fixedBins(binHz, Math.min(bandHz, 7400))
  }

  find({ power, crosses }: FrameSums, gain: Float64Array): FrameEvidence {
    const cross = crosses[0] ?? gain
    let kept = 0
    let removed = 0
    for (let bin = 0; bin < this.#bandBin; bin++) {
      const heard = power[bin] ?? 0
      const re = (cross[2 * bin] ?? 0) / (heard + NO_POWER)
      gain[2 * bin] = re
      gain[2 * bin + 1] = (cross[2 * bin + 1] ?? 0) / (heard + NO_POWER)
      if (bin < this.#bins.evidenceFrom || bin >= this.#bins.evidenceTo) continue
      const own = clipped(re)
      kept += heard * own * own
      removed += heard * loss(own) * loss(own)
    }
    continueAbove(gain, power, cross, this.#bandBin)
    return { kept, removed }
  }
}

/**
 * Two models, one voice: the mean of RNNoise's real gain and of GTCRN's complex one up to where GTCRN ends, RNNoise's
 * alone above. It is the best of several blends by the figures in `docs/voice.md`.
 *
 * Noise is the sound that both remove. The two models seldom hurt a voice in the same place. The product of their
 * losses therefore tells noise from damage.
 */
export class BlendedGain implements FrameGain {
  readonly voiceCount = 2
  readonly correctsFaults = true
  readonly #bins: FixedBins
  readonly #fadeFrom: number
  readonly #fadeTo: number
  readonly #bandBin: number

  /** @param binHz width of a bin */
  constructor(binHz: number) {
    this.#fadeFrom = Math.floor(6800 / binHz)
    this.#fadeTo = Math.floor(7500 / binHz)
    this.#bandBin = Math.floor(17_000 / binHz)
    this.#bins = fixedBins(binHz, 7400)
  }

  find({ power, crosses }: FrameSums, gain: Float64Array): FrameEvidence {
    const [rnnoise = gain, gtcrn = gain] = crosses
    let kept = 0
    let removed = 0
    for (let bin = 0; bin < this.#fadeTo; bin++) {
      const heard = power[bin] ?? 0
      const a = clipped((rnnoise[2 * bin] ?? 0) / (heard + NO_POWER))
      const re = (gtcrn[2 * bin] ?? 0) / (heard + NO_POWER)
      const im = (gtcrn[2 * bin + 1] ?? 0) / (heard + NO_POWER)
      const b = clipped(re)
      const agreement = 1 - DISAGREEMENT_LOSS * Math.abs(a - b)
      const weight = bin < this.#fadeFrom ? 1 : (this.#fadeTo - bin) / (this.#fadeTo - this.#fadeFrom)
      gain[2 * bin] = a + weight * (((a + re) / 2) * agreement - a)
      gain[2 * bin + 1] = weight * (im / 2) * agreement
      if (bin < this.#bins.evidenceFrom || bin >= this.#bins.evidenceTo) continue
      const both = (a + b) / 2
      kept += heard * both * both
      removed += heard * loss(a) * loss(b)
    }
    for (let bin = this.#fadeTo; bin < this.#bandBin; bin++) {
      gain[2 * bin] = clipped((rnnoise[2 * bin] ?? 0) / ((power[bin] ?? 0) + NO_POWER))
      gain[2 * bin + 1] = 0
    }
    gain.fill(0, 0, 2 * this.#bins.voiceFrom)
    continueAbove(gain, power, rnnoise, this.#bandBin)
    return { kept, removed }
  }
}

interface FixedBins {
  readonly voiceFrom: number
  readonly evidenceFrom: number
  readonly evidenceTo: number
}

function fixedBins(binHz: number, evidenceToHz: number): FixedBins {
  return {
    voiceFrom: Math.ceil(LOWEST_VOICE_HZ / binHz),
    evidenceFrom: Math.ceil(LOWEST_EVIDENCE_HZ / binHz),
    evidenceTo: Math.floor(evidenceToHz / binHz),
  }
}

/** Frequencies above the model's band get the gain of the band's top quarter. */
function continueAbove(gain: Float64Array, power: Float64Array, cross: Float64Array, bandBin: number): void {
  let product = 0
  let heard = NO_POWER
  for (let bin = Math.floor(bandBin * 0.75); bin < Math.min(bandBin, power.length); bin++) {
    product += cross[2 * bin] ?? 0
    heard += power[bin] ?? 0
  }
  const mean = clipped(product / heard)
  for (let bin = bandBin; bin < power.length; bin++) {
    gain[2 * bin] = mean
    gain[2 * bin + 1] = 0
  }
}

function clipped(value: number): number {
  return value <= 0 ? 0 : value >= 1 ? 1 : value
}

/** The part of a bin that a model takes out beyond what it may; 0 … 1. */
function loss(gain: number): number {
  return gain >= 1 - TOLERATED_LOSS ? 0 : (1 - TOLERATED_LOSS - gain) / (1 - TOLERATED_LOSS)
}
