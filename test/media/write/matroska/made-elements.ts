import { crc32 } from 'node:zlib'

/** Bytes that differ from place to place, so that a wrong range shows. None of them is an id of a cluster. */
export function marked(length: number, mark: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, at) => (mark * 31 + at * 7 + 1) & 0x0f))
}

/** An element; its size has a width of its own, or the least one that holds it. */
export function element(id: number, width: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  let wide = width
  while (wide < 8 && body.length >= 2 ** (7 * wide) - 1) wide += 1
  return Buffer.concat([idBytes(id), size(body.length, wide), body])
}

/** An id as it is stored. */
export function idBytes(id: number): Buffer {
  return Buffer.from(id.toString(16).padStart(2, '0'), 'hex')
}

/** A size in so many bytes. */
export function size(length: number, width: number): Buffer {
  const value = BigInt(length) | (1n << BigInt(7 * width))
  return Buffer.from(value.toString(16).padStart(2 * width, '0'), 'hex')
}

/** An element with an unsigned integer. */
export function uint(id: number, value: number, bytes = 1): Buffer {
  let least = bytes
  while (value >= 256 ** least) least += 1
  return element(id, 1, Buffer.from(value.toString(16).padStart(2 * least, '0'), 'hex'))
}

/** An element with a text. */
export const text = (id: number, value: string) => element(id, 1, Buffer.from(value))
/** The head of every file. */
export const EBML = element(0x1a45dfa3, 1, text(0x4282, 'matroska'), uint(0x4287, 4), uint(0x4285, 2))

/** A checksum element over some bytes. */
export function sumOf(bytes: Buffer): Buffer {
  const sum = Buffer.from('bf8400000000', 'hex')
  sum.writeUInt32LE(crc32(bytes), 2)
  return sum
}
