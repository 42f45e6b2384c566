import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'

/** GUIDs of the Header Object and the Data Object, as they stand in a file (ASF specification, section 10.1). */
const HEADER = '3026b2758e66cf11a6d900aa0062ce6c'
const DATA = '3626b2758e66cf11a6d900aa0062ce6c'

/**
 * The end of the packets of Windows Media, by the size of their object. The size of the whole file in the header is not
 * used: programs that change tags leave it as it was.
 *
 * @returns bytes; 0 if nothing is stated, as in a live recording
 */
export async function endOfAsf(file: FileHandle): Promise<number> {
  const start = await sizeOf(file, 0, HEADER)
  const length = start === 0 ? 0 : await sizeOf(file, start, DATA)
  return length === 0 ? 0 : start + length
}

/** Size of the object at an offset, its own head included; 0 if another object is there. */
async function sizeOf(file: FileHandle, at: number, guid: string): Promise<number> {
  const head = await readAt(file, at, 24)
  if (head.length < 24 || head.toString('hex', 0, 16) !== guid) return 0
  const size = Number(head.readBigUInt64LE(16))
  return size < Number.MAX_SAFE_INTEGER - at ? size : 0
}
