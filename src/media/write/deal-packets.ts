/** New packets in order. Times in a unit of their own. */
interface TimedPackets {
  readonly count: number
  /** The first packet that begins at a time or later. */
  readonly firstFrom: (time: number) => number
}

/** Packets `from` to `to` (excluded) of a donor. */
export interface PacketRange {
  readonly from: number
  readonly to: number
}

/** The packets of a donor by place in the file. Together all ranges are all packets from the first on, in order. */
export class DealtPackets {
  /** First packet of each place, and the end of the last. */
  readonly #bounds: Uint32Array

  constructor(bounds: Uint32Array) {
    this.#bounds = bounds
  }

  /** The packets of a place. The range is empty if a place got none, and past the last place. */
  at(place: number): PacketRange {
    const from = this.#bounds[place] ?? 0
    return { from, to: this.#bounds[place + 1] ?? from }
  }

  /** Each place that has packets. */
  *filled(): Generator<number> {
    for (let place = 0; place + 1 < this.#bounds.length; place++) {
      if ((this.#bounds[place + 1] as number) > (this.#bounds[place] as number)) yield place
    }
  }
}

/**
 * Assigns the packets of new audio to places in the file by time, so that they stay beside the same pictures.
 * Packets before the first place go to the first.
 *
 * @param startTimes start time of each place, in the unit of the packets
 * @param first first packet to assign; earlier ones are left out
 */
export function dealPackets(packets: TimedPackets, startTimes: Float64Array, first: number): DealtPackets {
  const bounds = new Uint32Array(startTimes.length + 1).fill(first)
  for (let place = 1; place < startTimes.length; place++) {
    // A place whose time goes back gets no packets.
    bounds[place] = Math.max(bounds[place - 1] as number, packets.firstFrom(startTimes[place] as number))
  }
  if (startTimes.length > 0) bounds[startTimes.length] = packets.count
  return new DealtPackets(bounds)
}
