import { Column } from '../column.js'
import { roomBeside } from './packet-bytes.js'
import type { Sound } from './sound-packets.js'

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

/** Bytes for which a packet of a sound has room. */
export function roomOf({ packets }: Sound, packet: number): number {
  return roomBeside(packets.keptBytes(packet))
}

/** Bytes for which the own packets of a unit have room. */
export function ownRoom(sound: Sound, unit: number): number {
  const { packetOf } = sound.units
  let room = 0
  for (let packet = packetOf(unit); packet < packetOf(unit + 1); packet++) room += roomOf(sound, packet)
  return room
}

/** Bytes of units that may come among the packets of later ones: about two units of several long frames. */
const MOST_LATE_BYTES = 16_384

/** True if units with so many bytes, heads included, find room in their own packets and in padding, soon enough. */
export function fitsPadding(sound: Sound, bytesOf: (unit: number) => number): boolean {
  const { firstOf } = sound.spares
  const room = roomBeside(0)
  let late = 0
  for (let unit = 0; unit < sound.units.count; unit++) {
    // The last packet of a unit is not full.
    const bytes = bytesOf(unit) + room
    late = Math.max(0, late + bytes - ownRoom(sound, unit) - room * (firstOf(unit + 1) - firstOf(unit)))
    if (late > MOST_LATE_BYTES) return false
  }
  return true
}
