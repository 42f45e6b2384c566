import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'

/** Key of a header partition, without its version and status (SMPTE ST 377-1, section 7.1). */
const HEADER_PARTITION = /^060e2b34020501..0d01020101020/
const KEY_BYTES = 16
/** Bytes in front of the offset of the footer: versions, grid, this partition and the one before. */
const FOOTER_AT = 24

/**
 * The least end of an MXF file: the key of its footer, whose place the header states once the file is written. An open
 * file, such as a recording that goes on, states none.
 *
 * @returns bytes; 0 if nothing is stated
 */
export async function endOfMxf(file: FileHandle): Promise<number> {
  const head = await readAt(file, 0, 64)
  if (head.length < 64 || !HEADER_PARTITION.test(head.toString('hex', 0, KEY_BYTES))) return 0
  // BER: one byte, or the number of bytes that follow.
  const length = head.readUInt8(KEY_BYTES)
  const body = KEY_BYTES + 1 + (length > 0x80 ? length - 0x80 : 0)
  if (body + FOOTER_AT + 8 > head.length) return 0
  const footer = Number(head.readBigUInt64BE(body + FOOTER_AT))
  return footer > 0 && footer < Number.MAX_SAFE_INTEGER ? footer + KEY_BYTES : 0
}
