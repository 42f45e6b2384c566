import { roomBeside } from './packet-bytes.js'
import type { TransportSound } from './sound-packets.js'

/** Bytes for which a packet of a sound has room. */
export function roomOf({ packets }: TransportSound, packet: number): number {
  return roomBeside(packets.keptBytes(packet))
}

/** Bytes for which the own packets of a unit have room. */
export function ownRoom(sound: TransportSound, unit: number): number {
  const { packetOf } = sound.units
  let room = 0
  for (let packet = packetOf(unit); packet < packetOf(unit + 1); packet++) room += roomOf(sound, packet)
  return room
}

/** Bytes of units that may come among the packets of later ones: about two units of several long frames. */
const MOST_LATE_BYTES = 16_384

/** True if units with so many bytes, heads included, find room in their own packets and in padding, soon enough. */
export function fitsPadding(sound: TransportSound, bytesOf: (unit: number) => number): boolean {
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
