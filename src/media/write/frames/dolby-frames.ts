import { AC3_STEPS } from '../encode/audio-encoding.js'

/** Length of an AC-3 frame from its header (ATSC A/52, table 5.18); 0 if there is none. */
export function ac3Length(bytes: Buffer, at: number): number {
  if (bytes.readUInt16BE(at) !== 0x0b77) return 0
  const [rate, code] = [(bytes[at + 4] ?? 0) >> 6, (bytes[at + 4] ?? 0) & 63]
  const kbit = AC3_STEPS[code >> 1]
  if (kbit === undefined || rate > 2) return 0
  if (rate === 1) return 2 * (Math.floor((320 * kbit) / 147) + (code & 1))
  return kbit * (rate === 0 ? 4 : 6)
}

/** Length of an E-AC-3 frame of six blocks that stands alone, from its header; 0 if there is none. */
export function eac3Length(bytes: Buffer, at: number): number {
  if (bytes.readUInt16BE(at) !== 0x0b77) return 0
  const isAlone = (bytes[at + 2] ?? 0) >> 3 === 0
  const hasSixBlocks = (((bytes[at + 4] ?? 0) >> 4) & 3) === 3
  return isAlone && hasSixBlocks ? 2 * ((bytes.readUInt16BE(at + 2) & 0x7ff) + 1) : 0
}
