import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { headerFields } from './program-packets.js'
import type { Structure } from './structure.js'

/** Bytes of a packet without what some files put before or behind it. */
export const PLAIN_BYTES = 188
/** Packets with error correction or filler behind each. */
export const CORRECTED_BYTES = 204
/** Packets of broadcast and storage, of Blu-ray (a timecode before each), and with more bytes behind each. */
const PACKET_BYTES = [PLAIN_BYTES, 192, CORRECTED_BYTES]
export const SYNC = 0x47
/** Packets in a row that begin with the sync byte. Fewer can be chance. */
const SYNCED = 8
/** Bytes in which the first packet is searched. Some programs put a header of their own before it. */
const SEARCHED_BYTES = 64 * 1024
/** Tables repeat at least every ten seconds, so the rest of a long file shows no others. */
const MOST_SCANNED_BYTES = 32 * 1024 ** 2
const PACKETS_AT_ONCE = 4096
/** Flags of an adaptation field: a countdown to a splice, private data, an extension. */
const MARKS = 0x07

/** Packet ids with a fixed meaning (ISO/IEC 13818-1, ETSI EN 300 468, ATSC A/65). */
const TABLES: Readonly<Record<number, string>> = {
  ...{ 0: 'PAT', 1: 'CAT', 2: 'TSDT', 3: 'IPMP', 16: 'NIT', 17: 'SDT', 18: 'EIT', 19: 'RST', 20: 'TDT' },
  ...{ 21: 'network sync', 22: 'RNT', 28: 'inband signalling', 29: 'measurement', 30: 'DIT', 31: 'SIT' },
  ...{ 8187: 'PSIP', 8191: 'padding' },
}

/**
 * Lists the packet ids of a transport stream, each with the place and size of its first packet. Names them `PID 18 (EIT)`,
 * `PID 256 (stream)`, or `PID 600` if its content is unknown. Names those with encrypted packets a second time, and those
 * with more than a clock beside their packets. Lists the fields in headers of units that state more than times. Ends with
 * the bytes behind each packet if there are any. Undefined if no packets are found.
 */
export async function transportPids(file: FileHandle, media: MediaInfo): Promise<readonly Structure[] | undefined> {
  const { sizeBytes } = media
  const grid = await packetGrid(file)
  if (!grid) return undefined
  const { first, size } = grid
  const held = new Map<number, { start: number; hasPayload: boolean }>()
  const others = new Map<string, Structure>()
  for (let at = first; at < Math.min(sizeBytes, MOST_SCANNED_BYTES); at += size * PACKETS_AT_ONCE) {
    const bytes = await readAt(file, at, size * PACKETS_AT_ONCE)
    for (let place = 0; place + 4 <= bytes.length; place += size) {
      if (bytes[place] !== SYNC) continue
      const pid = bytes.readUInt16BE(place + 1) & 0x1fff
      const known = held.get(pid) ?? { start: at + place, hasPayload: false }
      held.set(pid, known)
      const control = bytes[place + 3] ?? 0
      const hasPayload = (control & 0x10) !== 0
      known.hasPayload ||= hasPayload
      const found = [
        hasPayload && control >> 6 !== 0 ? `encrypted packets of PID ${pid}` : null,
        hasMarks(bytes, place) ? `marks beside packets of PID ${pid}` : null,
        ...unitFields(bytes.subarray(place, place + PLAIN_BYTES)).map((field) => `header of packets/${field}`),
      ]
      for (const path of found) {
        if (path !== null && !others.has(path)) others.set(path, { path, start: at + place, length: size })
      }
    }
  }
  const pids = [...held]
    .sort(([one], [other]) => one - other)
    .map(([pid, { start, hasPayload }]) => {
      return { path: pidName(media, pid, hasPayload), start, length: size }
    })
  const all = [...pids, ...others.values()]
  if (size !== CORRECTED_BYTES) return all
  const behind = { start: first + PLAIN_BYTES, length: CORRECTED_BYTES - PLAIN_BYTES }
  return [...all, { path: 'bytes behind each packet', ...behind }]
}

/** True if the adaptation field of a packet counts packets up to a splice, or holds private data or an extension. */
function hasMarks(bytes: Buffer, place: number): boolean {
  const hasFlags = ((bytes[place + 3] ?? 0) & 0x20) !== 0 && (bytes[place + 4] ?? 0) > 0
  return hasFlags && ((bytes[place + 5] ?? 0) & MARKS) !== 0
}

/** Names fields in the header of a unit (PES packet) that begins in a packet. */
function unitFields(packet: Buffer): readonly string[] {
  const [, flags = 0, , control = 0, fieldBytes = 0] = packet
  if ((flags & 0x40) === 0 || ![1, 3].includes(control >> 4)) return []
  const head = packet.subarray(control & 0x20 ? 5 + fieldBytes : 4)
  return head.length > 9 && head.readUIntBE(0, 3) === 1 ? headerFields({ code: head[3] as number, head }) : []
}

/** Names a packet id. @param hasPayload false if its packets carry nothing but a clock */
export function pidName(
  { streams, programs = [] }: Pick<MediaInfo, 'streams' | 'programs'>,
  pid: number,
  hasPayload: boolean,
): string {
  const unnamed = hasPayload ? null : 'clock'
  const stream = streams.some(({ id }) => id === pid) ? 'stream' : unnamed
  const name = TABLES[pid] ?? (programs.some(({ pmtPid }) => pmtPid === pid) ? 'PMT' : stream)
  return name === null ? `PID ${pid}` : `PID ${pid} (${name})`
}

/** The sync byte of the first packet, and the distance to that of the next one. */
export interface PacketGrid {
  readonly first: number
  readonly size: number
}

/** Finds the packets of a transport stream; undefined if there are none. */
export async function packetGrid(file: FileHandle): Promise<PacketGrid | undefined> {
  const head = await readAt(file, 0, SEARCHED_BYTES)
  for (let first = head.indexOf(SYNC); first >= 0; first = head.indexOf(SYNC, first + 1)) {
    const size = PACKET_BYTES.find((each) =>
      Array.from({ length: SYNCED }, (_, place) => head[first + place * each]).every((byte) => byte === SYNC),
    )
    if (size !== undefined) return { first, size }
  }
  return undefined
}
