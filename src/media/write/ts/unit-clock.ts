const WRAP_TICKS = 2 ** 33

/** Continues the times of units when their clock of 33 bits wraps around. */
export class UnitClock {
  #last = Number.NaN
  #wrapped = 0

  /** @param ticks of 90 kHz; NaN if a unit states none */
  follow(ticks: number): number {
    if (Number.isNaN(ticks)) return ticks
    const moved = ticks + this.#wrapped - this.#last
    if (moved < -WRAP_TICKS / 2) this.#wrapped += WRAP_TICKS
    if (moved > WRAP_TICKS / 2) this.#wrapped -= WRAP_TICKS
    this.#last = ticks + this.#wrapped
    return this.#last
  }
}
