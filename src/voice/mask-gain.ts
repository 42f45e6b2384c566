import type { MaskSettings } from './mask-settings.js'

/** Steps of the table that stands for a power function: it is asked for a hundred thousand times a second. */
const TABLE_STEPS = 4096

/** Likeness and power of the sound, bin by bin, that a gain is found from. */
export interface BinSums {
  /** Real part of the model's voice against the original. */
  readonly product: Float64Array
  /** Power of the original. */
  readonly power: Float64Array
}

/**
 * Turns what a model did to a spectrum into a gain for each bin, shaped by the settings: gentler on weak voice, never
 * below the floor, rumble out, and above the model's band as just below it.
 */
export class MaskGain {
  readonly #table: Float64Array
  readonly #highPassBin: number
  readonly #topBin: number
  readonly #referenceBin: number

  /** @param binHz width of a bin */
  constructor({ exponent, floor, highPassHz, modelBandHz }: MaskSettings, binHz: number) {
    this.#table = Float64Array.from({ length: TABLE_STEPS + 2 }, (_, i) =>
      Math.max(floor, Math.min(1, i / TABLE_STEPS) ** exponent),
    )
    this.#highPassBin = Math.ceil(highPassHz / binHz)
    this.#topBin = Math.floor(modelBandHz / binHz)
    this.#referenceBin = Math.floor((modelBandHz * 0.75) / binHz)
  }

  /** By how much each bin is to change: the gain less 1, with a strength of 0 … 1. Into `change`. */
  changeOf({ product, power }: BinSums, strength: number, change: Float64Array): void {
    const topBin = Math.min(this.#topBin, change.length)
    let topProduct = 0
    let topPower = 0
    for (let bin = this.#referenceBin; bin < topBin; bin++) {
      topProduct += product[bin] ?? 0
      topPower += power[bin] ?? 0
    }
    for (let bin = 0; bin < topBin; bin++) change[bin] = strength * (this.#shaped(product[bin], power[bin]) - 1)
    change.fill(-strength, 0, this.#highPassBin)
    change.fill(strength * (this.#shaped(topProduct, topPower) - 1), topBin)
  }

  #shaped(product = 0, power = 0): number {
    const ratio = product / (power + 1e-18)
    const at = ratio <= 0 ? 0 : ratio >= 1 ? TABLE_STEPS : ratio * TABLE_STEPS
    const left = Math.floor(at)
    const a = this.#table[left] ?? 0
    return a + ((this.#table[left + 1] ?? a) - a) * (at - left)
  }
}
