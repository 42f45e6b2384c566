/**
 * The bit reservoir of MPEG layer III (ISO/IEC 11172-3, 2.4.1.7): the data of a frame may begin in the frames before it.
 * The last new frame before old ones therefore carries the bytes that the first of these still needs.
 */

import { layerThreeLength } from '../frames/mpeg-frames.js'

const HEAD_BYTES = 4
const CHECKSUM_BYTES = 2
const MOST_RATE_INDEX = 14

/** The parts of a layer III frame. Sizes in bytes. */
interface LayerThreeFrame {
  readonly hasChecksum: boolean
  readonly sideAt: number
  readonly dataAt: number
  /** How far before {@link dataAt} the data of this frame begins, in data bytes of the frames before. */
  readonly backBytes: number
  readonly dataBytes: number
}

/**
 * The last new frame before an old one, grown by a higher bit rate if needed, with the data that the old one needs.
 *
 * @param last is complete in itself
 * @param before the old frames before `next`, in their order
 * @returns null if the data is not there, or does not fit
 */
export function carryReservoir(last: Buffer, before: readonly Buffer[], next: Buffer): Buffer | null {
  const [own, needs] = [readFrame(last), readFrame(next)]
  if (!own || !needs || own.backBytes > 0) return null
  const data = before.map((frame) => frame.subarray(readFrame(frame)?.dataAt ?? frame.length))
  const stored = Buffer.concat(data)
  if (stored.length < needs.backBytes) return null
  const carried = stored.subarray(stored.length - needs.backBytes)
  const used = own.dataAt + own.dataBytes
  const head = Buffer.from(last.subarray(0, own.dataAt))
  while (layerThreeLength(head, 0) < used + carried.length) {
    const rateIndex = (head[2] as number) >> 4
    if (rateIndex >= MOST_RATE_INDEX) return null
    head[2] = ((rateIndex + 1) << 4) | ((head[2] as number) & 15)
  }
  if (own.hasChecksum) head.writeUInt16BE(checksum(head, own), HEAD_BYTES)
  const rest = Buffer.alloc(layerThreeLength(head, 0) - used - carried.length)
  return Buffer.concat([head, last.subarray(own.dataAt, used), rest, carried])
}

/** Reads the header and the side information; undefined for anything else. */
function readFrame(frame: Buffer): LayerThreeFrame | undefined {
  if (layerThreeLength(frame, 0) !== frame.length) return undefined
  const isFirstVersion = (((frame[1] as number) >> 3) & 3) === 3
  const channels = (frame[3] as number) >> 6 === 3 ? 1 : 2
  const hasChecksum = ((frame[1] as number) & 1) === 0
  const sideAt = HEAD_BYTES + (hasChecksum ? CHECKSUM_BYTES : 0)
  const form = isFirstVersion ? FORMS.first : FORMS.second
  const dataAt = sideAt + (form.sideBytes[channels - 1] as number)
  if (frame.length < dataAt) return undefined
  const bits = (at: number, count: number) =>
    (frame.readUIntBE(sideAt + (at >> 3), 3) >> (24 - (at & 7) - count)) & ((1 << count) - 1)
  let dataBits = 0
  for (let part = 0; part < form.granules * channels; part++) {
    dataBits += bits((form.lengthsAt[channels - 1] as number) + part * form.lengthStep, 12)
  }
  return { hasChecksum, sideAt, dataAt, backBytes: bits(0, form.backBits), dataBytes: Math.ceil(dataBits / 8) }
}

/** Places in the side information, in bits, for one and two channels: MPEG-1, then MPEG-2 and 2.5. */
const FORMS = {
  first: { granules: 2, backBits: 9, sideBytes: [17, 32], lengthsAt: [18, 20], lengthStep: 59 },
  second: { granules: 1, backBits: 8, sideBytes: [9, 17], lengthsAt: [9, 10], lengthStep: 63 },
} as const

/** Checksum of the last two bytes of the header and of the side information (ISO/IEC 11172-3, 2.4.3.1). */
function checksum(head: Buffer, { sideAt, dataAt }: LayerThreeFrame): number {
  let crc = 0xffff
  for (const byte of [...head.subarray(2, HEAD_BYTES), ...head.subarray(sideAt, dataAt)]) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc & 0x8000) !== 0 ? (crc << 1) ^ 0x8005 : crc << 1) & 0xffff
  }
  return crc
}
