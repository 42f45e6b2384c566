import { Column } from '../column.js'

/** Packets of padding that a sound may use: their places among all packets of the file, by its units. */
export interface SparePackets {
  /** First one behind the start of a unit; for the number of units, the one behind the last. */
  readonly firstOf: (unit: number) => number
  readonly numberOf: (spare: number) => number
}

/** More than a unit of several long frames needs. The padding of a film would fill the memory. */
const MOST_IN_UNIT = 255

/** Collects packets of padding among the packets of a sound. */
export class SpareCollector {
  readonly #numbers = Column.integers()
  readonly #firsts = Column.integers()
  #inUnit = MOST_IN_UNIT

  startUnit(): void {
    this.#firsts.push(this.#numbers.count)
    this.#inUnit = 0
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
