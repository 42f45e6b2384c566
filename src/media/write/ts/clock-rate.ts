/** Ticks of the clock of a program a second. */
const TICKS_PER_EXTENSION = 300
const CLOCK_AT = 6
/** Intervals that may differ by so much if their packets come at one rate: clocks are rounded. */
const SAME_RATE = 1.02
/** Fewer prove nothing. */
const LEAST_INTERVALS = 2

/** Finds out if packets come at one rate, by the first clock of a file. */
export class ClockRate {
  #pid: number | null = null
  #last: { readonly ticks: number; readonly number: number } | null = null
  #intervals = 0
  #least = Number.POSITIVE_INFINITY
  #most = 0

  /** @param at sync byte of a packet with an adaptation field */
  take(pid: number, bytes: Buffer, at: number, number: number): void {
    const hasClock = (bytes[at + 4] as number) >= 7 && ((bytes[at + 5] as number) & 0x10) !== 0
    if (!hasClock) return
    this.#pid ??= pid
    if (pid !== this.#pid) return
    const base = bytes.readUInt32BE(at + CLOCK_AT) * 2 + ((bytes[at + CLOCK_AT + 4] as number) >> 7)
    const ticks = base * TICKS_PER_EXTENSION + (bytes.readUInt16BE(at + CLOCK_AT + 4) & 0x1ff)
    const last = this.#last
    this.#last = { ticks, number }
    const jumps = ((bytes[at + 5] as number) & 0x80) !== 0
    if (!last || jumps || ticks <= last.ticks) return
    const rate = (number - last.number) / (ticks - last.ticks)
    this.#intervals += 1
    this.#least = Math.min(this.#least, rate)
    this.#most = Math.max(this.#most, rate)
  }

  /** True unless the clock proves that the rate varies. A file without a clock states no rate. */
  get mayBeConstant(): boolean {
    if (this.#pid === null) return false
    return this.#intervals < LEAST_INTERVALS || this.#most < this.#least * SAME_RATE
  }
}
