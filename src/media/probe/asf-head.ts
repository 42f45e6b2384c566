import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../core/read-at.js'

/** Bytes of the GUID and the size with which each object of an ASF file begins. */
export const ASF_HEAD_BYTES = 24

/** The objects that an ASF file consists of (Advanced Systems Format specification, revision 01.20.06, section 10.1). */
export const ASF_HEADER = '75b22630-668e-11cf-a6d9-00aa0062ce6c'
export const ASF_DATA = '75b22636-668e-11cf-a6d9-00aa0062ce6c'

/** Reads the head of the object at an offset; `length` is that of the whole object. Undefined at the end of the file. */
export async function asfHeadAt(file: FileHandle, at: number) {
  const head = await readAt(file, at, ASF_HEAD_BYTES)
  if (head.length < ASF_HEAD_BYTES) return undefined
  return { guid: guidOf(head), length: Number(head.readBigUInt64LE(16)) }
}

/** The first three parts of a GUID are little-endian. */
function guidOf(bytes: Buffer): string {
  const hex = (from: number, to: number) => bytes.toString('hex', from, to)
  const turned = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).reverse().toString('hex')
  return [turned(0, 4), turned(4, 6), turned(6, 8), hex(8, 10), hex(10, 16)].join('-')
}
