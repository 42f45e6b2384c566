import { checksumOf } from '../../checksum.js'

const PACKET_BYTES = 188
const [PICTURE_PID, ADDED_PID] = [0x100, 0x1f2]
const TICKS_PER_PICTURE = 3600

/** Entries of the table of a program for a further stream: its type, PID and descriptors. */
export const TELETEXT = Buffer.from([6, 0xe1, 0xf2, 0xf0, 7, 0x56, 5, 0x64, 0x65, 0x75, 9, 0])
/** A metadata descriptor for ID3, as in HLS. */
export const ID3 = Buffer.concat([
  Buffer.from([0x15, 0xe1, 0xf2, 0xf0, 15, 0x26, 13, 0xff, 0xff]),
  Buffer.from('ID3 \xffID3 \0\x0f', 'latin1'),
])

const pidOf = (packet: Buffer) => packet.readUInt16BE(1) & 0x1fff
const isStart = (packet: Buffer) => (packet.readUInt8(1) & 0x40) !== 0

/** The checksum of MPEG-2 tables. */
function crcOf(section: Buffer): number {
  return checksumOf(section, 0xffff_ffff)
}

function packetOf(pid: number, counter: number, payload: Buffer): Buffer {
  const packet = Buffer.alloc(PACKET_BYTES, 0xff)
  packet.writeUInt8(0x47, 0)
  packet.writeUInt16BE(0x4000 | pid, 1)
  packet.writeUInt8(0x10 | (counter & 15), 3)
  payload.copy(packet, 4)
  return packet
}

/** A packet of private data (`private_stream_1`). @param headBytes of its header, stuffing included */
export function pesOf(ticks: bigint, content: Buffer, headBytes: number): Buffer {
  const header = Buffer.alloc(headBytes, 0xff)
  Buffer.from([0, 0, 1, 0xbd, 0, headBytes - 6 + content.length, 0x84, 0x80, headBytes - 9]).copy(header)
  const places = [0x21n | ((ticks >> 29n) & 0xen), ticks >> 22n, 1n | ((ticks >> 14n) & 0xfen), ticks >> 7n]
  for (const [place, value] of [...places, 1n | ((ticks << 1n) & 0xfen)].entries()) {
    header.writeUInt8(Number(value & 0xffn), 9 + place)
  }
  return Buffer.concat([header, content])
}

/** The table of the program with a further stream, in the place of the old one. */
function withEntry(packet: Buffer, entry: Buffer): Buffer {
  const start = 5
  const length = packet.readUInt16BE(start + 1) & 0xfff
  const section = Buffer.concat([packet.subarray(start, start + 3 + length - 4), entry])
  section.writeUInt16BE(0xb000 | (length + entry.length), 1)
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(crcOf(section))
  return packetOf(pidOf(packet), packet.readUInt8(3), Buffer.concat([Buffer.from([0]), section, crc]))
}

/** A transport stream of 25 pictures a second with a packet of another stream for each, at its time. */
export function withStream(
  stream: Buffer,
  entry: Buffer,
  firstTicks: bigint,
  contentAt: (ticks: bigint) => Buffer,
): Buffer {
  const made: Buffer[] = []
  let count = 0
  for (let at = 0; at < stream.length; at += PACKET_BYTES) {
    const packet = stream.subarray(at, at + PACKET_BYTES)
    const isProgram = isStart(packet) && packet.readUInt16BE(4) === 2
    made.push(isProgram ? withEntry(packet, entry) : packet)
    if (pidOf(packet) !== PICTURE_PID || !isStart(packet)) continue
    made.push(packetOf(ADDED_PID, count, contentAt(firstTicks + BigInt(TICKS_PER_PICTURE * count))))
    count += 1
  }
  return Buffer.concat(made)
}
