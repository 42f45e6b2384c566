import { Column } from '../column.js'
import { MOST_PAYLOAD_BYTES } from './packet-bytes.js'

/** Packets of padding that a sound may use: their places among all packets of the file, by its units. */
export interface SparePackets {
  /** First one behind the start of a unit; for the number of units, the one behind the last. */
  readonly firstOf: (unit: number) => number
  readonly numberOf: (spare: number) => number
}

/** More than a unit of several long frames needs. The padding of a film would fill the memory. */
const MOST_IN_UNIT = 255
/** Room for so many times the frames that begin in a unit, since units before it may be late. */
const TIMES = 2

/** Collects packets of padding among the packets of a sound, as many as new frames may need. */
export class SpareCollector {
  readonly #numbers = Column.integers()
  readonly #firsts = Column.integers()
  readonly #frameBytes: number
  #inUnit = MOST_IN_UNIT
  #frames: number | null = null

  /** @param frameBytes of the longest frame */
  constructor(frameBytes: number) {
    this.#frameBytes = frameBytes
  }

  /** @param frames that began before; null if their number is not known yet */
  startUnit(frames: number | null): void {
    if (frames !== null && this.#frames !== null) this.#endUnit(frames - this.#frames)
    this.#frames = frames
    this.#firsts.push(this.#numbers.count)
    this.#inUnit = 0
  }

  /** The head of one more frame may lie in two units. */
  #endUnit(frames: number): void {
    const wanted = Math.ceil((TIMES * (frames + 1) * this.#frameBytes) / MOST_PAYLOAD_BYTES)
    this.#numbers.shorten(this.#firsts.get(this.#firsts.count - 1) + wanted)
  }

  /** @param number place of a packet of padding among all packets */
  take(number: number): void {
    if (this.#inUnit === MOST_IN_UNIT) return
    this.#inUnit += 1
    this.#numbers.push(number)
  }

  finish(): SparePackets {
    const [firsts, numbers] = [this.#firsts, this.#numbers]
    return {
      firstOf: (unit) => (unit < firsts.count ? firsts.get(unit) : numbers.count),
      numberOf: (spare) => numbers.get(spare),
    }
  }
}
