import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { StatedSamples } from './stated-samples.js'

const BLOCK_BYTES = 1024 * 1024
const VALUE_BYTES = 4
/** Largest exponent of a floating point number with which Cool Edit writes 24 bits: 2^24 is above all of them. */
const COOL_EDIT_EXPONENT = 127 + 24

/**
 * True if values of 4 bytes are integers of 24 bits in the upper ones. The lowest byte of each is then zero. Numbers of
 * Cool Edit can look alike, but none of them has the large exponent that a small negative integer would have.
 */
export async function highBytesOnly(file: FileHandle, { data, isBigEndian }: StatedSamples): Promise<boolean> {
  if (data === null) return false
  let isSilent = true
  for (let done = 0; done < data.length; done += BLOCK_BYTES) {
    const block = await readAt(file, data.start + done, Math.min(BLOCK_BYTES, data.length - done))
    let isInteger = false
    for (let at = 0; at + VALUE_BYTES <= block.length; at += VALUE_BYTES) {
      const value = isBigEndian ? block.readInt32BE(at) : block.readInt32LE(at)
      if ((value & 0xff) !== 0) return false
      if (value !== 0) isSilent = false
      if (((value >>> 23) & 0xff) > COOL_EDIT_EXPONENT) isInteger = true
    }
    if (isInteger) return true
  }
  // Silence is the same in both.
  return isSilent
}
