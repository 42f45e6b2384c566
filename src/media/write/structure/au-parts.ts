import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { Structure } from './structure.js'

/** Bytes of the fixed header, the place of its two sizes, and the size of a file whose writer could not go back. */
const [HEAD_BYTES, START_AT, LENGTH_AT, UNKNOWN] = [24, 4, 8, 0xffff_ffff]

/** Lists the parts of a Sun or NeXT audio file; undefined for another kind of file. */
export async function auParts(file: FileHandle, sizeBytes: number): Promise<readonly Structure[] | undefined> {
  const head = await readAt(file, 0, HEAD_BYTES)
  if (head.length < HEAD_BYTES || head.toString('latin1', 0, 4) !== '.snd') return undefined
  const [start, length] = [head.readUInt32BE(START_AT), head.readUInt32BE(LENGTH_AT)]
  if (start < HEAD_BYTES || start > sizeBytes) return undefined
  const end = length === UNKNOWN ? sizeBytes : Math.min(start + length, sizeBytes)
  const parts = [
    { path: 'AU', start: 0, length: HEAD_BYTES },
    { path: 'AU/annotation', start: HEAD_BYTES, length: start - HEAD_BYTES },
    { path: 'AU/data', start, length: end - start },
    { path: 'trailing bytes', start: end, length: sizeBytes - end },
  ]
  return parts.filter((part) => part.length > 0)
}
