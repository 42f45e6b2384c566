import { readUintBE, writeUintBE } from '../../../number-bytes.js'
import type { Box } from '../../../probe/movie/box.js'
import { copiedBox, type OffsetTable, type Replacements } from './sheet.js'

/** An item of `iloc` whose bytes lie in this file, with the places of its offsets in the box. */
interface Item {
  readonly base: Field
  readonly extents: readonly Field[]
}

/** A number in a box, big-endian, of 0, 4 or 8 bytes. */
interface Field {
  readonly at: number
  readonly bytes: number
  readonly value: number
}

/** Offsets of the items of a `meta` box (a picture, XML). Only those from the file's first byte move. */
export function itemOffsets(box: Box, into: Replacements): OffsetTable {
  const bytes = copiedBox(box, into)
  const items = readItems(bytes, box.headerBytes)
  return {
    box,
    fill: ({ mapped }) =>
      items.every(({ base, extents }) => {
        const [first] = extents
        if (!first) return true
        const moved = extents.map((extent) => mapped(base.value + extent.value) ?? base.value + extent.value)
        const shift = (moved[0] as number) - base.value - first.value
        const newBase = base.bytes > 0 && base.value + shift >= 0 ? base.value + shift : base.value
        write(bytes, base, newBase)
        return extents.every((extent, place) => write(bytes, extent, (moved[place] as number) - newBase))
      }),
  }
}

function readItems(bytes: Buffer, headerBytes: number): readonly Item[] {
  const version = bytes[headerBytes] as number
  const sizes = bytes.readUInt16BE(headerBytes + 4)
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15] as const
  const indexBytes = version > 0 ? sizes & 15 : 0
  let at = headerBytes + 6
  const take = (count: number): Field => {
    const value = readUintBE(bytes, at, count)
    at += count
    return { at: at - count, bytes: count, value }
  }
  const items: Item[] = []
  for (let left = take(version < 2 ? 2 : 4).value; left > 0; left--) {
    take(version < 2 ? 2 : 4)
    const method = version > 0 ? take(2).value & 15 : 0
    const dataReference = take(2).value
    const base = take(baseBytes)
    const { value: count } = take(2)
    // Two extents without an offset and a length are the same bytes twice; thousands of items would list millions.
    if (count > 1 && indexBytes + offsetBytes + lengthBytes === 0) throw new RangeError('extents without bytes')
    const extents = Array.from({ length: count }, () => {
      take(indexBytes)
      const offset = take(offsetBytes)
      take(lengthBytes)
      return offset
    })
    if (method === 0 && dataReference === 0) items.push({ base, extents })
  }
  return items
}

function write(bytes: Buffer, { at, bytes: width }: Field, value: number): boolean {
  if (width === 0) return value === 0
  if (value < 0 || (width < 8 && value >= 2 ** (8 * width))) return false
  writeUintBE(bytes, value, at, width)
  return true
}

/** True if `iloc` can be read to its end. */
export function isReadableItemTable(box: Box): boolean {
  try {
    readItems(box.bytes ?? Buffer.alloc(0), box.headerBytes)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
