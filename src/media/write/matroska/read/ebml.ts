/** Head of an EBML element: its id and size (RFC 8794). */
export interface Head {
  readonly id: number
  /** Bytes of id and size together. */
  readonly headBytes: number
  /** Bytes of the size alone. */
  readonly sizeWidth: number
  /** Bytes of the body; null if unknown, as in live recordings. */
  readonly length: number | null
}

/** Reads the head of an element; undefined if no element begins there. */
export function readHead(bytes: Buffer, at: number): Head | undefined {
  const idWidth = vintWidth(bytes[at])
  if (idWidth === 0 || idWidth > 4) return undefined
  const size = readVint(bytes, at + idWidth)
  if (!size) return undefined
  const isUnknown = size.value === UNKNOWN_SIZES[size.width]
  return {
    id: bytes.readUIntBE(at, idWidth),
    headBytes: idWidth + size.width,
    sizeWidth: size.width,
    length: isUnknown ? null : size.value,
  }
}

/** Reads a number that states its own width, such as the track number of a block. */
export function readVint(bytes: Buffer, at: number): { readonly value: number; readonly width: number } | undefined {
  const width = vintWidth(bytes[at])
  if (width === 0 || at + width > bytes.length) return undefined
  let value = (bytes[at] as number) & (0xff >> width)
  for (let place = 1; place < width; place++) value = value * 256 + (bytes[at + place] as number)
  return { value, width }
}

function vintWidth(first: number | undefined): number {
  return first === undefined || first === 0 ? 0 : Math.clz32(first) - 23
}

/** The reserved values by width: all bits set. Rounded for eight bytes, as is the result of {@link readVint}. */
const UNKNOWN_SIZES = Array.from({ length: 9 }, (_, width) => 2 ** (7 * width) - 1)

/** The least width of a number that states its own width. */
export function vintWidthOf(value: number): number {
  let width = 1
  while (value >= (UNKNOWN_SIZES[width] as number)) width += 1
  return width
}

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

/** Makes an id, which is stored as it is written. */
function makeId(id: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(id)
  return bytes.subarray(Math.floor(Math.clz32(id) / 8))
}

/** Makes a head; its size is as narrow as it can be, but not narrower than `leastWidth`. */
export function makeHead(id: number, length: number, leastWidth = 1): Buffer {
  return Buffer.concat([makeId(id), makeVint(length, Math.max(leastWidth, vintWidthOf(length)))])
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

/** Reads an unsigned integer of up to eight bytes; an empty one is 0. */
export function readUint(body: Buffer): number {
  let value = 0
  for (const byte of body.subarray(0, 8)) value = value * 256 + byte
  return value
}

/** Reads a float of four or eight bytes; an empty one is 0. */
export function readFloat(body: Buffer): number {
  if (body.length === 8) return body.readDoubleBE(0)
  return body.length === 4 ? body.readFloatBE(0) : 0
}

/** Makes an element with a float; in eight bytes if four are not exact. */
export function makeFloat(id: number, value: number, leastBytes = 4): Buffer {
  const isWide = leastBytes === 8 || Math.fround(value) !== value
  const bytes = Buffer.alloc(isWide ? 8 : 4)
  if (isWide) bytes.writeDoubleBE(value)
  else bytes.writeFloatBE(value)
  return makeElement(id, bytes)
}
