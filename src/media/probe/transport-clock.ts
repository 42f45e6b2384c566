/** A reading of a transport stream's clock (its program clock reference). */
export interface ClockReading {
  /** The packet stream of this clock. A file of several programs has several. */
  readonly pid: number
  /** In units of 1/90000 s; wraps after 2^33. */
  readonly ticks: number
}

/** Plain packets; with a Blu-ray or camera timecode before each; with broadcast check bytes after each. */
const PACKET_BYTES = [188, 192, 204] as const
const SYNC = 0x47
/** This many sync bytes in their places are not a coincidence. */
const HEADS = 5
/** The last packets of a buffer cannot be verified. The next buffer should begin this much earlier. */
export const PACKET_OVERLAP_BYTES = HEADS * 204

/** Distance between packet heads; undefined if the bytes are not a transport stream. */
export function packetBytesOf(head: Buffer): number | undefined {
  return PACKET_BYTES.find((stride) => nextPacket(head, 0, stride) !== undefined)
}

/** All clock readings in a piece of a transport stream that begins anywhere. */
export function clockReadings(bytes: Buffer, packetBytes: number): readonly ClockReading[] {
  return [...packetHeads(bytes, packetBytes)].flatMap((at) => readingOf(bytes, at) ?? [])
}

/** The sync bytes of the packets in such a piece. Skips damaged packets. */
export function* packetHeads(bytes: Buffer, packetBytes: number): Generator<number> {
  for (let at = nextPacket(bytes, 0, packetBytes); at !== undefined; ) {
    yield at
    const next = at + packetBytes
    at = bytes[next] === SYNC && next + 12 <= bytes.length ? next : nextPacket(bytes, next, packetBytes)
  }
}

/** Seconds between two readings, the short way round, so that a wrapped clock continues. */
export function secondsBetween(from: ClockReading, to: ClockReading): number {
  const ticks = (to.ticks - from.ticks + 2 ** 33) % 2 ** 33
  return (ticks < 2 ** 32 ? ticks : ticks - 2 ** 33) / 90_000
}

function nextPacket(bytes: Buffer, from: number, stride: number): number | undefined {
  for (let at = bytes.indexOf(SYNC, from); at >= 0; at = bytes.indexOf(SYNC, at + 1)) {
    if (at + (HEADS - 1) * stride >= bytes.length) return undefined
    if (Array.from({ length: HEADS }, (_, place) => bytes[at + place * stride]).every((byte) => byte === SYNC))
      return at
  }
  return undefined
}

/** Reads the clock after a packet head with an adaptation field and this flag (ISO 13818-1, 2.4.3.2 and 2.4.3.4). */
function readingOf(bytes: Buffer, at: number): ClockReading | undefined {
  const [first = 0, control = 0, length = 0, flags = 0] = [bytes[at + 1], bytes[at + 3], bytes[at + 4], bytes[at + 5]]
  const isDamaged = (first & 0x80) !== 0
  if (isDamaged || (control & 0x20) === 0 || length < 7 || (flags & 0x10) === 0) return undefined
  return {
    pid: bytes.readUInt16BE(at + 1) & 0x1fff,
    ticks: bytes.readUInt32BE(at + 6) * 2 + ((bytes[at + 10] ?? 0) >> 7),
  }
}
