/** Ticks of the clock of a program a second. */
const TICKS_PER_EXTENSION = 300
const CLOCK_AT = 6
/** Neighbouring intervals that may differ by so much if their packets come at one rate: clocks are rounded. */
const SAME_RATE = 1.02
/** Share of neighbours with the same rate, from which packets come at one rate. A clock that jumps spoils a few of them. */
const MOST_ARE_SAME = 0.8
/** Fewer prove nothing. */
const LEAST_INTERVALS = 2

/** Finds out if packets come at one rate, by the first clock of a file. */
export class ClockRate {
  #pid: number | null = null
  #last: { readonly ticks: number; readonly number: number } | null = null
  /** In packets a tick. */
  #lastRate: number | null = null
  #neighbours = 0
  #sameNeighbours = 0

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
    const lastRate = this.#lastRate
    this.#lastRate = rate
    if (lastRate === null) return
    this.#neighbours += 1
    if (Math.max(rate, lastRate) < Math.min(rate, lastRate) * SAME_RATE) this.#sameNeighbours += 1
  }

  /** True unless the clock proves that the rate varies. A file without a clock states no rate. */
  get mayBeConstant(): boolean {
    if (this.#pid === null) return false
    return this.#neighbours + 1 < LEAST_INTERVALS || this.#sameNeighbours >= this.#neighbours * MOST_ARE_SAME
  }
}
