import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { isStreamedSize } from '../streamed-size.js'
import { waveChunks } from '../wave-chunks.js'

/** SoX states such a size for an AIFF from a pipe, and a little more for chunks beside the samples. */
const [PIPED, LARGER] = [0x7f00_0000, 0x7f10_0000]

/** Each is the end that a file of chunks states for itself, in bytes; 0 if it states none. */

/**
 * RIFF and RF64: the size of the outermost chunk, unless the file was streamed. The pad byte at the end is often missing. A
 * WAV whose last chunk ends with the file is whole: recorders that lost power state the size that they had reserved.
 */
export async function endOfRiff(file: FileHandle, sizeBytes: number): Promise<number> {
  const head = await readAt(file, 0, 28)
  const form = head.toString('latin1', 0, 4)
  if ((form === 'RF64' || form === 'BW64') && head.length === 28) {
    return head.toString('latin1', 12, 16) === 'ds64' ? statedEnd(8 + Number(head.readBigUInt64LE(20)) - 1) : 0
  }
  if (head.length < 12 || (form !== 'RIFF' && form !== 'RIFX')) return 0
  const order = form === 'RIFX' ? 'BE' : 'LE'
  const size = order === 'BE' ? head.readUInt32BE(4) : head.readUInt32LE(4)
  if (isStreamedSize(size) || (await countsItsHead(file, size, sizeBytes, order))) return 0
  const isWhole =
    head.toString('latin1', 8, 12) === 'WAVE' && size > sizeBytes && (await endsWithChunk(file, sizeBytes, order))
  return isWhole ? 0 : 8 + size - 1
}

/** AIFF and AIFF-C. */
export async function endOfForm(file: FileHandle, sizeBytes: number): Promise<number> {
  const head = await readAt(file, 0, 12)
  if (head.length < 12 || head.toString('latin1', 0, 4) !== 'FORM') return 0
  const size = head.readUInt32BE(4)
  const isPiped = size >= PIPED && size < LARGER && size > sizeBytes
  return isPiped || (await countsItsHead(file, size, sizeBytes, 'BE')) ? 0 : 8 + size - 1
}

/** True if the size of a file of whole chunks counts its own head too, as some programs write it. */
async function countsItsHead(file: FileHandle, stated: number, sizeBytes: number, order: 'LE' | 'BE') {
  return stated <= sizeBytes && stated + 8 > sizeBytes && (await endsWithChunk(file, sizeBytes, order))
}

/** True if the last chunk ends with the file, or a byte of padding before its end. */
async function endsWithChunk(file: FileHandle, sizeBytes: number, order: 'LE' | 'BE'): Promise<boolean> {
  const last = (await waveChunks(file, order)).at(-1)
  const behind = last ? sizeBytes - (last.at + 8 + last.size) : -1
  return behind === 0 || behind === 1
}

/** Sony Wave64: the size stands behind the GUID. Up to 7 bytes of padding may be missing. */
export async function endOfWave64(file: FileHandle): Promise<number> {
  const head = await readAt(file, 0, 24)
  return head.length < 24 ? 0 : statedEnd(Number(head.readBigUInt64LE(16)) - 7)
}

/** Core Audio: walks the chunks. The last one may have an open end. */
export async function endOfCaf(file: FileHandle, sizeBytes: number): Promise<number> {
  let at = 8
  while (at + 12 <= sizeBytes) {
    const head = await readAt(file, at, 12)
    const size = Number(head.readBigInt64BE(4))
    if (size < 0 || !/^[\x20-\x7e]{4}$/.test(head.toString('latin1', 0, 4))) return 0
    at += 12 + size
  }
  return statedEnd(at)
}

/** Sun and NeXT audio: the bytes of sound follow the header; 2^32-1 if it was streamed. */
export async function endOfAu(file: FileHandle): Promise<number> {
  const head = await readAt(file, 0, 12)
  if (head.length < 12 || head.toString('latin1', 0, 4) !== '.snd') return 0
  const size = head.readUInt32BE(8)
  return isStreamedSize(size) ? 0 : head.readUInt32BE(4) + size
}

/** Sizes that no file has mean that the writer could not go back. */
function statedEnd(end: number): number {
  return end < Number.MAX_SAFE_INTEGER ? end : 0
}
