import type { FileHandle } from 'node:fs/promises'
import { type ByteRange, readAt } from '../../../core/read-at.js'

/** The packets of a track as they lie in the input, in decoding order. */
export interface OldPackets {
  readonly count: number
  /** First byte of a packet in the input. */
  readonly start: (packet: number) => number
  /** Bytes of a packet, its frame header included. */
  readonly length: (packet: number) => number
  /** All bytes of a packet in their order, if it does not lie in one place. */
  readonly ranges?: (packet: number) => readonly ByteRange[]
  /** Bytes of the frame header before what a decoder needs: 7 in ADTS, else 0. */
  readonly headBytes: number
  /** Time at which the first sample of a packet plays, counted from the file's zero. */
  readonly startSec: (packet: number) => number
}

/** All bytes of a packet in the input, in their order. */
export function packetRanges({ start, length, ranges }: OldPackets, packet: number): readonly ByteRange[] {
  return ranges?.(packet) ?? [{ start: start(packet), length: length(packet) }]
}

/** Reads a packet of the input, its frame header included. */
export async function readPacket(file: FileHandle, packets: OldPackets, packet: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (const { start, length } of packetRanges(packets, packet)) parts.push(await readAt(file, start, length))
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}

/** The headers of Vorbis that a decoder needs before any packet. */
export interface VorbisHeaders {
  readonly id: Buffer
  readonly setUp: Buffer
}

/** A track whose packets can be replaced one by one. */
export interface SpliceableTrack<Donor> {
  readonly packets: OldPackets
  /** True if the packets of any time are found without decoding those before them. */
  readonly isIndexed: boolean
  /** Makes the frame header of a new packet from one of the track; null if packets have none. */
  readonly frameHead: ((sample: Buffer, payloadBytes: number) => Buffer) | null
  /** Null for another codec, and for a container whose packets of Vorbis cannot change in number. */
  readonly vorbis: VorbisHeaders | null
  /** Options with which the encoder makes packets that fit the old ones; left out for those of the whole track. */
  readonly encoderOptions?: readonly string[]
  /** The form in which the writer takes packets, from packets that follow each other in a virtual side file. */
  readonly donorOf: (packets: PacketList) => Donor
}

/** A time, as a packet of the input and samples behind its start. */
export interface PacketTime {
  readonly packet: number
  readonly behindSamples: number
}

/** Packets that follow each other. All numbers from 0 to `count` included have an offset. */
export interface PacketList {
  readonly count: number
  readonly length: (packet: number) => number
  readonly offsetOf: (packet: number) => number
  /** When a packet plays. */
  readonly timeOf: (packet: number) => PacketTime
  /** The first packet that plays with one of the input, or behind it. */
  readonly firstAt: (old: number) => number
  /** Samples by which the last packet ends later than that of the input. */
  readonly surplusSamples: number
}
