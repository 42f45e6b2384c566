import type { Packets } from '../read/donor-track.js'

/** Packets `from` to `to` (excluded) of a donor. */
export interface PacketRange {
  readonly from: number
  readonly to: number
}

/**
 * Assigns the packets of new audio to places in the file by time, so that they stay beside the same pictures.
 * Packets before the first place go to the first.
 *
 * @param startTicks start time of each place, in ticks of the donor
 * @param first first packet to assign; earlier ones are left out
 * @returns one range per place, possibly empty; together all packets from the first on, in order
 */
export function dealPackets(packets: Packets, startTicks: readonly number[], first: number): readonly PacketRange[] {
  let from = first
  return startTicks.map((_, place) => {
    const next = startTicks[place + 1]
    // A place whose time goes back gets no packets.
    const to = next === undefined ? packets.count : Math.max(from, packets.firstFrom(next))
    const range = { from, to }
    from = to
    return range
  })
}
