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

/** Reads a time of a unit (ISO/IEC 13818-1, 2.4.3.6), in ticks of 90 kHz. */
export function ticksAt(payload: Buffer, at: number): number {
  const [high, middle, low] = [payload[at] as number, payload.readUInt16BE(at + 1), payload.readUInt16BE(at + 3)]
  return ((high >> 1) & 7) * 2 ** 30 + (middle >> 1) * 2 ** 15 + (low >> 1)
}
