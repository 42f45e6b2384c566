import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { id3Length } from '../id3-length.js'
import { MalformedFile } from '../malformed-file.js'
import { nearReader } from '../near-reader.js'

/** A tag, by its kind and its bytes in the file. */
interface TagBlock {
  readonly path: string
  readonly start: number
  readonly length: number
}

/** A tag may have no content: a file of nothing else would fill the memory. No program writes more than a few. */
const MOST_TAGS = 10_000

/**
 * Finds the tags around the audio of an MP3, AAC, AC-3 or FLAC file. These are ID3v2 at the start, and ID3v1, APE,
 * Lyrics3 and ID3v2.4 at the end. They have no gaps between them, and are in file order.
 *
 * @throws {MalformedFile} if there are too many
 */
export async function tagBlocks(file: FileHandle, sizeBytes: number) {
  const head: TagBlock[] = []
  let soundStart = 0
  const read = nearReader(file)
  for (;;) {
    const length = id3Length(await read(soundStart, 10), 'ID3')
    if (length === null || soundStart + length > sizeBytes) break
    head.push({ path: 'ID3v2', start: soundStart, length })
    requireFew(head)
    soundStart += length
  }
  const tail: TagBlock[] = []
  let soundEnd = sizeBytes
  for (;;) {
    const block = await lastBlock(file, soundEnd)
    if (!block || block.start < soundStart) break
    tail.push(block)
    requireFew(tail)
    soundEnd = block.start
  }
  return { head, tail: tail.reverse(), soundStart, soundEnd }
}

function requireFew({ length }: readonly TagBlock[]): void {
  if (length > MOST_TAGS) throw new MalformedFile(`it has more than ${MOST_TAGS} tags in a row`)
}

async function lastBlock(file: FileHandle, end: number): Promise<TagBlock | undefined> {
  const from = Math.max(0, end - 355)
  const bytes = await readAt(file, from, end - from)
  const block = (path: string, length: number) =>
    length > 0 && length <= end ? { path, start: end - length, length } : undefined
  const text = (back: number, length: number) =>
    bytes.toString('latin1', bytes.length - back, bytes.length - back + length)
  if (bytes.length >= 128 && text(128, 3) === 'TAG') {
    return block('ID3v1', bytes.length >= 355 && text(355, 4) === 'TAG+' ? 355 : 128)
  }
  if (bytes.length >= 32 && text(32, 8) === 'APETAGEX') {
    const footer = bytes.subarray(bytes.length - 32)
    const hasHeader = (footer.readUInt32LE(20) & 0x8000_0000) !== 0
    return block('APE', footer.readUInt32LE(12) + (hasHeader ? 32 : 0))
  }
  if (bytes.length >= 15 && text(9, 9) === 'LYRICS200') return block('Lyrics3', Number(text(15, 6)) + 15)
  const id3 = bytes.length >= 10 ? id3Length(bytes.subarray(bytes.length - 10), '3DI') : null
  return id3 === null ? undefined : block('ID3v2', id3)
}
