import type { FileHandle } from 'node:fs/promises'
import { ASF_DATA, ASF_HEADER, asfHeadAt } from '../asf-head.js'

/**
 * The end of the packets of Windows Media, by the size of their object. The size of the whole file in the header is not
 * used: programs that change tags leave it as it was.
 *
 * @returns bytes; 0 if nothing is stated, as in a live recording
 */
export async function endOfAsf(file: FileHandle): Promise<number> {
  const start = await sizeOf(file, 0, ASF_HEADER)
  const length = start === 0 ? 0 : await sizeOf(file, start, ASF_DATA)
  return length === 0 ? 0 : start + length
}

/** Size of the object at an offset, its own head included; 0 if another object is there. */
async function sizeOf(file: FileHandle, at: number, guid: string): Promise<number> {
  const head = await asfHeadAt(file, at)
  return head?.guid === guid && head.length < Number.MAX_SAFE_INTEGER - at ? head.length : 0
}
