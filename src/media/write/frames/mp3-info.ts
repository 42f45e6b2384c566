/** The first frame of an MP3, which describes the file instead of holding sound (Xing, 1998; LAME tag revision 1). */

import { NAME_PLACES } from '../../probe/ends/mp3-end.js'
import type { PacketList } from '../splice/old-packets.js'

const NAMES = ['Xing', 'Info']
const HAS_FRAMES = 1
const HAS_BYTES = 2
const HAS_PLACES = 4
const HAS_QUALITY = 8
const PLACES = 100
/** From the name of the encoder on: the size of the audio, a checksum of it, and a checksum of this frame up to itself. */
const LAME_SIZE_AT = 28
const LAME_SOUND_CHECKSUM_AT = 32
const LAME_CHECKSUM_AT = 34
const LAME_BYTES = 36

/** True if a frame describes the file. */
export function statesInfo(frame: Buffer): boolean {
  return nameAt(frame) !== undefined
}

/** The frame for other packets: size, places for seeking, its checksum. The checksum of the sound is cleared. */
export function splicedInfo(frame: Buffer, { count, offsetOf }: PacketList): Buffer {
  const made = Buffer.from(frame)
  const name = nameAt(made) ?? 0
  const sizeBytes = made.length + offsetOf(count)
  const flags = made.readUInt32BE(name + 4)
  let at = name + 8 + (flags & HAS_FRAMES ? 4 : 0)
  if (flags & HAS_BYTES) {
    made.writeUInt32BE(sizeBytes, at)
    at += 4
  }
  if (flags & HAS_PLACES) {
    for (let place = 0; place < PLACES; place++) {
      const offset = made.length + offsetOf(Math.floor((count * place) / PLACES))
      made[at + place] = place === 0 ? 0 : Math.min(255, Math.floor((256 * offset) / sizeBytes))
    }
    at += PLACES
  }
  if (flags & HAS_QUALITY) at += 4
  const hasLame = made.length >= at + LAME_BYTES && /^[\x20-\x7e]{4}/.test(made.toString('latin1', at, at + 4))
  if (!hasLame) return made
  made.writeUInt32BE(sizeBytes, at + LAME_SIZE_AT)
  made.writeUInt16BE(0, at + LAME_SOUND_CHECKSUM_AT)
  made.writeUInt16BE(checksum(made.subarray(0, at + LAME_CHECKSUM_AT)), at + LAME_CHECKSUM_AT)
  return made
}

function nameAt(frame: Buffer): number | undefined {
  return NAME_PLACES.find((at) => NAMES.includes(frame.toString('latin1', at, at + 4)))
}

/** CRC-16 with the polynomial 0x8005, least bit first. */
function checksum(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1
  }
  return crc
}
