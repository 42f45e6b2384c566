/** The packets of a track as they lie in the input, in decoding order. */
export interface OldPackets {
  readonly count: number
  /** First byte of a packet in the input. */
  readonly start: (packet: number) => number
  /** Bytes of a packet, its frame header included. */
  readonly length: (packet: number) => number
  /** Bytes of the frame header before what a decoder needs: 7 in ADTS, else 0. */
  readonly headBytes: number
  /** Time at which the first sample of a packet plays, counted from the file's zero. */
  readonly startSec: (packet: number) => number
}

/** A track whose packets can be replaced one by one. */
export interface SpliceableTrack<Donor> {
  readonly packets: OldPackets
  /** True if the packets of any time are found without decoding those before them. */
  readonly isIndexed: boolean
  /** Makes the frame header of a new packet from one of the track; null if packets have none. */
  readonly frameHead: ((sample: Buffer, payloadBytes: number) => Buffer) | null
  /** The form in which the writer takes packets, from packets that follow each other in a virtual side file. */
  readonly donorOf: (packets: PacketPlaces) => Donor
}

/** Sizes and places of packets that follow each other. All places from 0 to `count` included have an offset. */
export interface PacketPlaces {
  readonly count: number
  readonly length: (packet: number) => number
  readonly offsetOf: (packet: number) => number
}
