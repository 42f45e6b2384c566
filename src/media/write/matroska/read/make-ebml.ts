import { uint32BE } from '../../../number-bytes.js'
import { vintWidthOf } from '../../../probe/matroska/ebml.js'

/** Makes a number that states its own width. */
export function makeVint(value: number, width = vintWidthOf(value)): Buffer {
  const bytes = Buffer.alloc(width)
  let rest = value
  for (let place = width - 1; place >= 0; place--) {
    bytes[place] = rest % 256
    rest = Math.floor(rest / 256)
  }
  bytes[0] = (bytes[0] as number) | (0x100 >> width)
  return bytes
}

/** Makes a head; its size is as narrow as it can be, but not narrower than `leastWidth`. */
export function makeHead(id: number, length: number, leastWidth = 1): Buffer {
  // An id is stored as it is written, without its leading zeros.
  const idBytes = uint32BE(id).subarray(Math.floor(Math.clz32(id) / 8))
  return Buffer.concat([idBytes, makeVint(length, Math.max(leastWidth, vintWidthOf(length)))])
}

/** Makes an element. */
export function makeElement(id: number, body: Uint8Array, leastWidth = 1): Buffer {
  return Buffer.concat([makeHead(id, body.length, leastWidth), body])
}

/** Makes an element with an unsigned integer of at least that many bytes. */
export function makeUint(id: number, value: number, leastBytes = 1): Buffer {
  return makeElement(id, uintBytes(value, leastBytes))
}

/** Writes an unsigned integer, in more bytes than the least if it must. */
export function uintBytes(value: number, leastBytes: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  let width = leastBytes
  while (width < 8 && value >= 256 ** width) width += 1
  return bytes.subarray(8 - width)
}

/** Makes an element with a float; in eight bytes if four are not exact. */
export function makeFloat(id: number, value: number, leastBytes = 4): Buffer {
  const isWide = leastBytes === 8 || Math.fround(value) !== value
  const bytes = Buffer.alloc(isWide ? 8 : 4)
  if (isWide) bytes.writeDoubleBE(value)
  else bytes.writeFloatBE(value)
  return makeElement(id, bytes)
}
