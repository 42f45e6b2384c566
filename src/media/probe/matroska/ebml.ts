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

/** Bodies of the children with an id, up to one that does not fit. */
export function bodiesIn(body: Buffer, id: number): readonly Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    const head = readHead(body, at)
    if (!head || head.length === null || at + head.headBytes + head.length > body.length) break
    const end = at + head.headBytes + head.length
    if (head.id === id) found.push(body.subarray(at + head.headBytes, end))
    at = end
  }
  return found
}

/** The unsigned integer in the first child with an id; undefined without one. */
export function numberIn(body: Buffer, id: number): number | undefined {
  const [child] = bodiesIn(body, id)
  return child && readUint(child)
}
