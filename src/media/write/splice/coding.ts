import { firstAtLeast } from '../first-at-least.js'

/** Packets that follow each other on the clock of a file. */
export interface Coding {
  /** Its first packet, and the place behind its last. */
  readonly first: number
  readonly end: number
  /** Sample of the clock at which a packet plays; for {@link end}, the one behind its last. */
  readonly startOf: (packet: number) => number
  /** The packets `from` to `to` (excluded), as a decoder takes them. */
  readonly read: (from: number, to: number) => Promise<readonly Buffer[]>
}

/** A place at which the packets of one coding may follow those of the other: the packet behind it, in both. */
export interface Joint {
  readonly old: number
  readonly made: number
}

/** New packets for a part of a track. */
export interface NewCoding {
  readonly made: Coding
  /** Places at which new packets may follow old ones, the nearest to the changed sound first. */
  readonly left: readonly Joint[]
  /** Places at which old packets may follow new ones, likewise. */
  readonly right: readonly Joint[]
  /** Replaces all packets from the first on, if no joint holds; null if the part is not near the start. */
  readonly atStart: Joint | null
  /** Replaces all packets up to the last, likewise. */
  readonly atEnd: Joint | null
  /** Exact arguments of each encoder. */
  readonly runs: readonly (readonly string[])[]
  readonly close: () => Promise<void>
}

/** Number of samples that a decoder gives for each of some packets that follow each other. */
export type SamplesOf = (packets: readonly Buffer[]) => readonly number[]

/** The last packet that plays by a sample; the first if all are later. */
export function packetAt({ first, end, startOf }: Coding, sample: number): number {
  const later = firstAtLeast(end - first, (place) => startOf(first + place), sample + 1)
  return first + Math.max(0, later - 1)
}
