import type { FileHandle } from 'node:fs/promises'

/** Bytes of a file or of a buffer. */
export interface ByteRange {
  readonly start: number
  readonly length: number
}

/** Reads bytes at an offset; fewer at the end of the file. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

/** Fills bytes from an offset on. Returns how many there were: fewer only at the end of the file. */
export async function fillFrom(file: FileHandle, position: number, into: Uint8Array): Promise<number> {
  let filled = 0
  while (filled < into.length) {
    const { bytesRead } = await file.read(into, filled, into.length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}
