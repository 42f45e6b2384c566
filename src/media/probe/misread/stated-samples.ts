import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { waveChunks } from '../wave-chunks.js'

/** The statement of a WAV or CAF about its samples. */
export interface StatedSamples {
  /** Bytes of one instant of all channels. */
  readonly frameBytes: number
  readonly channels: number
  /** True if the high byte of a value comes first. */
  readonly isBigEndian: boolean
  /** Bytes of the samples; null if the file states no such place. */
  readonly data: { readonly start: number; readonly length: number } | null
}

/** Fields of the chunk `fmt ` of a WAV, behind its header. */
const WAVE = { channels: 2, frameBytes: 12, end: 14 }
const WAVE_HEAD_BYTES = 8
/** Fields of the description that begins every CAF. */
const CAF = { flags: 32, frameBytes: 36, channels: 44, end: 52 }
/** Head of a chunk, and the number of edits that the samples stand behind. */
const [CAF_HEAD_BYTES, CAF_EDITS_BYTES] = [12, 4]
const CAF_LITTLE_ENDIAN = 2
/** A CAF has only some chunks before its samples. */
const MOST_CHUNKS = 1000

/** Reads the statement of a RIFF, RF64 or BW64. @param order of the bytes of its numbers; `BE` is a RIFX */
export async function waveSamples(file: FileHandle, order: 'LE' | 'BE'): Promise<StatedSamples | undefined> {
  const chunks = await waveChunks(file, order)
  const [format, data] = ['fmt ', 'data'].map((wanted) => chunks.find(({ id }) => id === wanted))
  const fields = format ? await readAt(file, format.at + WAVE_HEAD_BYTES, WAVE.end) : Buffer.alloc(0)
  if (fields.length < WAVE.end) return undefined
  return {
    frameBytes: order === 'LE' ? fields.readUInt16LE(WAVE.frameBytes) : fields.readUInt16BE(WAVE.frameBytes),
    channels: order === 'LE' ? fields.readUInt16LE(WAVE.channels) : fields.readUInt16BE(WAVE.channels),
    isBigEndian: order === 'BE',
    data: data ? { start: data.at + WAVE_HEAD_BYTES, length: data.size } : null,
  }
}

/** Reads the statement of a CAF. @param head its first bytes */
export async function cafSamples(
  file: FileHandle,
  head: Buffer,
  sizeBytes: number,
): Promise<StatedSamples | undefined> {
  if (head.length < CAF.end) return undefined
  return {
    frameBytes: head.readUInt32BE(CAF.frameBytes),
    channels: head.readUInt32BE(CAF.channels),
    isBigEndian: (head.readUInt32BE(CAF.flags) & CAF_LITTLE_ENDIAN) === 0,
    data: await cafData(file, sizeBytes),
  }
}

async function cafData(file: FileHandle, sizeBytes: number): Promise<StatedSamples['data']> {
  let at = 8
  for (let count = 0; count < MOST_CHUNKS && at + CAF_HEAD_BYTES + CAF_EDITS_BYTES <= sizeBytes; count++) {
    const head = await readAt(file, at, CAF_HEAD_BYTES)
    const size = Number(head.readBigInt64BE(4))
    const start = at + CAF_HEAD_BYTES + CAF_EDITS_BYTES
    const isData = head.toString('latin1', 0, 4) === 'data'
    if (isData) return { start, length: (size < 0 ? sizeBytes : at + CAF_HEAD_BYTES + size) - start }
    if (size < 0) return null
    at += CAF_HEAD_BYTES + size
  }
  return null
}
