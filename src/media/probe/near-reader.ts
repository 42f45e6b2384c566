import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../core/read-at.js'

/** Bytes that are read at once: many heads of empty structures, and little more than one head of a long one. */
const WINDOW_BYTES = 1024

/** Reads bytes at an offset; fewer at the end of the file. */
export type NearReader = (position: number, length: number) => Promise<Buffer>

/** Reads heads of structures that may follow each other closely: one read of the file for many of them. */
export function nearReader(file: FileHandle, windowBytes = WINDOW_BYTES): NearReader {
  let window: Buffer = Buffer.alloc(0)
  let from = 0
  return async (position, length) => {
    if (position < from || position + length > from + window.length) {
      window = await readAt(file, position, Math.max(length, windowBytes))
      from = position
    }
    return window.subarray(position - from, position - from + length)
  }
}
