import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { waveChunks } from '../wave-chunks.js'

/** Fields of the chunk `fmt ` (WAVEFORMATEX), and those of its extension. High byte first. */
const AT = { tag: 0, channels: 2, sampleRate: 4, bits: 14, extension: 16, validBits: 18, mask: 20, subFormat: 24 }
const HEAD_BYTES = 8
const EXTENSIBLE = 0xfffe
/** End of a format with an extension. */
const EXTENDED_BYTES = 40

/** Names of raw samples, by the tag of the format and the bits of a sample. */
const RAW: ReadonlyMap<number, Readonly<Record<number, string>>> = new Map([
  [1, { 8: 'u8', 16: 's16be', 24: 's24be', 32: 's32be' }],
  [3, { 32: 'f32be', 64: 'f64be' }],
  [6, { 8: 'alaw' }],
  [7, { 8: 'mulaw' }],
])

/**
 * The options with which ffmpeg reads a RIFX whose format has more than 16 bytes. It refuses such a format, so it reads
 * raw samples, which end the file. None for any other file.
 */
export async function longFormatOptions(file: FileHandle, head: Buffer, sizeBytes: number): Promise<readonly string[]> {
  if (head.toString('latin1', 0, 4) !== 'RIFX' || head.toString('latin1', 8, 12) !== 'WAVE') return []
  const chunks = await waveChunks(file, 'BE')
  const [format, data] = [chunks.find(({ id }) => id === 'fmt '), chunks.at(-1)]
  if (!format || format.size <= AT.extension || data?.id !== 'data') return []
  if (data.at + HEAD_BYTES + data.size !== sizeBytes) return []
  const fields = await readAt(file, format.at + HEAD_BYTES, Math.min(format.size, EXTENDED_BYTES))
  const [channels, bits] = [fields.readUInt16BE(AT.channels), fields.readUInt16BE(AT.bits)]
  const raw = RAW.get(tagOf(fields))?.[bits]
  const isWhole = channels > 0 && data.size % ((channels * bits) / 8) === 0
  if (raw === undefined || !isWhole || hasUnusedBits(fields)) return []
  return [
    ...['-format_whitelist', raw, '-f', raw, '-skip_initial_bytes', String(data.at + HEAD_BYTES)],
    ...['-sample_rate', String(fields.readUInt32BE(AT.sampleRate)), '-ch_layout', layoutOf(fields, channels)],
  ]
}

function isExtensible(fields: Buffer): boolean {
  return fields.readUInt16BE(AT.tag) === EXTENSIBLE && fields.length === EXTENDED_BYTES
}

/** The tag of a format. That of its extension begins its GUID, in two bytes or in four. */
function tagOf(fields: Buffer): number {
  if (!isExtensible(fields)) return fields.readUInt16BE(AT.tag)
  return fields.readUInt16BE(AT.subFormat) || fields.readUInt32BE(AT.subFormat)
}

function hasUnusedBits(fields: Buffer): boolean {
  return isExtensible(fields) && ![0, fields.readUInt16BE(AT.bits)].includes(fields.readUInt16BE(AT.validBits))
}

/** The mask of the speakers, or the usual layout of as many channels. */
function layoutOf(fields: Buffer, channels: number): string {
  const mask = isExtensible(fields) ? fields.readUInt32BE(AT.mask) : 0
  const named = mask.toString(2).replaceAll('0', '').length
  return named === channels ? `0x${mask.toString(16)}` : `${channels}c`
}
