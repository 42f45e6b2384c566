import type { FileHandle } from 'node:fs/promises'
import { nearReader } from './near-reader.js'

/** Length of an ID3v2 tag with its header, from ten bytes; null if they are none. */
export function id3Length(head: Buffer, magic: 'ID3' | '3DI'): number | null {
  if (head.length < 10 || head.toString('latin1', 0, 3) !== magic) return null
  const [flags, ...size] = head.subarray(5, 10)
  if (size.some((byte) => byte > 0x7f)) return null
  const body = size.reduce((sum, byte) => sum * 128 + byte, 0)
  const hasFooter = magic === '3DI' || ((flags ?? 0) & 0x10) !== 0
  return 10 + body + (hasFooter ? 10 : 0)
}

/** Offset of the first byte behind the ID3v2 tags at the start of a file. */
export async function afterId3(file: FileHandle, sizeBytes: number): Promise<number> {
  const read = nearReader(file)
  for (let at = 0; ; ) {
    const length = id3Length(await read(at, 10), 'ID3')
    if (length === null || at + length > sizeBytes) return at
    at += length
  }
}
