import { PLAIN_BYTES, SYNC } from '../../src/media/write/structure/transport-pids.js'
import { roomBeside, transportHead } from '../../src/media/write/ts/packet-bytes.js'
import { type ProgramEntry, ProgramTables } from '../../src/media/write/ts/program-tables.js'

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
  if (segment.length === 0 || segment.length % PLAIN_BYTES !== 0) return null
  const packets: TransportPacket[] = []
  for (let at = 0; at < segment.length; at += PLAIN_BYTES) {
    const bytes = segment.subarray(at, at + PLAIN_BYTES)
    if (bytes[0] !== SYNC) return null
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
    const payload = unit.subarray(at, at + roomBeside(field.length))
    const { head, stuffing } = transportHead({
      ...{ pid, startsUnit: packets.length === 0, hasPriority: false },
      ...{ counter: (firstCounter + packets.length) & 15, keptBytes: field.length, payloadBytes: payload.length },
    })
    packets.push(Buffer.concat([head, field, stuffing, payload]))
    at += payload.length
  }
  return packets
}

/** The streams that a segment's tables (PAT, PMT) name; empty if it has none. @throws MalformedFile if they change */
export function streamsOf(packets: readonly TransportPacket[]): readonly ProgramEntry[] {
  const tables = new ProgramTables()
  // Twice, because the map of a programme may come before the table that names it.
  for (const { pid, bytes } of [...packets, ...packets]) if (tables.reads(pid)) tables.take(pid, bytes, 0)
  return tables.tables().flatMap(({ entries }) => entries)
}

/** Flags and the fields they announce; what follows is stuffing. */
function withoutStuffing(field: Buffer): Buffer {
  const flags = field[0] ?? 0
  let length = 1 + (flags & 0x10 ? 6 : 0) + (flags & 0x08 ? 6 : 0) + (flags & 0x04 ? 1 : 0)
  if (flags & 0x02) length += 1 + (field[length] ?? 0)
  if (flags & 0x01) length += 1 + (field[length] ?? 0)
  return flags === 0 ? Buffer.alloc(0) : field.subarray(0, length)
}
