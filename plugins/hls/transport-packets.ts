/** Bytes of every packet of an MPEG transport stream. */
const PACKET_BYTES = 188
const HEADER_BYTES = 4

/** One packet of a transport stream. */
export interface TransportPacket {
  readonly bytes: Buffer
  readonly pid: number
  readonly startsUnit: boolean
  /** Content of the adaptation field (flags, clock, …), without its length and stuffing; empty if there is none. */
  readonly adaptation: Buffer
  readonly hasPayload: boolean
  readonly payload: Buffer
}

/** Reads a segment's packets; null if it is not made of them. */
export function transportPackets(segment: Buffer): readonly TransportPacket[] | null {
  if (segment.length === 0 || segment.length % PACKET_BYTES !== 0) return null
  const packets: TransportPacket[] = []
  for (let at = 0; at < segment.length; at += PACKET_BYTES) {
    const bytes = segment.subarray(at, at + PACKET_BYTES)
    if (bytes[0] !== 0x47) return null
    const [, second = 0, , fourth = 0] = bytes
    const field =
      fourth & 0x20 ? bytes.subarray(HEADER_BYTES + 1, HEADER_BYTES + 1 + (bytes[HEADER_BYTES] as number)) : null
    packets.push({
      bytes,
      pid: bytes.readUInt16BE(1) & 0x1fff,
      startsUnit: (second & 0x40) !== 0,
      adaptation: field ? withoutStuffing(field) : Buffer.alloc(0),
      hasPayload: (fourth & 0x10) !== 0,
      payload: fourth & 0x10 ? bytes.subarray(HEADER_BYTES + (field ? 1 + field.length : 0)) : Buffer.alloc(0),
    })
  }
  return packets
}

/**
 * Packets that carry one unit.
 *
 * @param adaptations what the adaptation field of each of the first packets says
 * @param firstCounter continuity counter of the first; the others count on
 */
export function packUnit(
  pid: number,
  unit: Buffer,
  adaptations: readonly Buffer[],
  firstCounter: number,
): readonly Buffer[] {
  const packets: Buffer[] = []
  let at = 0
  while (at < unit.length || packets.length === 0) {
    const field = adaptations[packets.length] ?? Buffer.alloc(0)
    const room = PACKET_BYTES - HEADER_BYTES - (field.length > 0 ? 1 + field.length : 0)
    const payload = unit.subarray(at, at + room)
    const packet = Buffer.alloc(PACKET_BYTES, 0xff)
    const stuffing = room - payload.length
    const hasField = field.length > 0 || stuffing > 0
    packet[0] = 0x47
    packet.writeUInt16BE((packets.length === 0 ? 0x4000 : 0) | pid, 1)
    packet[3] = (hasField ? 0x30 : 0x10) | ((firstCounter + packets.length) & 15)
    // The length byte is the first to be stuffed with, an empty row of flags the second.
    if (hasField) packet[HEADER_BYTES] = field.length > 0 ? field.length + stuffing : stuffing - 1
    if (field.length > 0) field.copy(packet, HEADER_BYTES + 1)
    else if (stuffing > 1) packet[HEADER_BYTES + 1] = 0
    payload.copy(packet, PACKET_BYTES - payload.length)
    packets.push(packet)
    at += payload.length
  }
  return packets
}

/** The stream of a programme, as its map names it. */
export interface TransportStream {
  readonly pid: number
  readonly type: number
}

/** The streams that a segment's tables (PAT, PMT) name; empty if it has none. */
export function streamsOf(packets: readonly TransportPacket[]): readonly TransportStream[] {
  const association = sectionOf(packets, 0)
  if (association === null) return []
  const maps: number[] = []
  for (let at = 8; at + 4 <= association.length - 4; at += 4) {
    if (association.readUInt16BE(at) !== 0) maps.push(association.readUInt16BE(at + 2) & 0x1fff)
  }
  return maps.flatMap((pid) => {
    const map = sectionOf(packets, pid)
    if (map === null || map.length < 16) return []
    const streams: TransportStream[] = []
    for (let at = 12 + (map.readUInt16BE(10) & 0xfff); at + 5 <= map.length - 4; ) {
      streams.push({ type: map[at] as number, pid: map.readUInt16BE(at + 1) & 0x1fff })
      at += 5 + (map.readUInt16BE(at + 3) & 0xfff)
    }
    return streams
  })
}

/** The first section of a table, if it fits into one packet, as those of one programme do. */
function sectionOf(packets: readonly TransportPacket[], pid: number): Buffer | null {
  const packet = packets.find((candidate) => candidate.pid === pid && candidate.startsUnit && candidate.hasPayload)
  const start = 1 + (packet?.payload[0] ?? 0)
  if (!packet || start + 3 > packet.payload.length) return null
  const section = packet.payload.subarray(start, start + 3 + (packet.payload.readUInt16BE(start + 1) & 0xfff))
  return section.length > 12 ? section : null
}

/** Flags and the fields they announce; what follows is stuffing. */
function withoutStuffing(field: Buffer): Buffer {
  const flags = field[0] ?? 0
  let length = 1 + (flags & 0x10 ? 6 : 0) + (flags & 0x08 ? 6 : 0) + (flags & 0x04 ? 1 : 0)
  if (flags & 0x02) length += 1 + (field[length] ?? 0)
  if (flags & 0x01) length += 1 + (field[length] ?? 0)
  return flags === 0 ? Buffer.alloc(0) : field.subarray(0, length)
}
