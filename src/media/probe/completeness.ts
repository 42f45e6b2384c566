import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../core/read-at.js'
import { missingFlacSec } from './flac-end.js'
import { matroskaSegment } from './matroska-clock.js'
import { missingMp3Sec } from './mp3-end.js'
import { isStreamedSize } from './streamed-size.js'

/** A file whose end may be looked at. */
export interface OpenMedia {
  /** Absolute. */
  readonly path: string
  readonly file: FileHandle
  readonly sizeBytes: number
  /** As {@link containerKind} names it. */
  readonly container: string
}

/**
 * Tells whether a file ends before its own headers say so: ffprobe opens such a file if the index is at the beginning.
 * A file that holds more than its headers state is whole.
 *
 * @returns what is missing at its end, as `1234 bytes` or `1.5 s`; undefined if nothing is known to be missing
 */
export async function missingEnd(media: OpenMedia): Promise<string | undefined> {
  const { path, file, sizeBytes, container } = media
  if (container === 'flac') return seconds(await missingFlacSec(file, sizeBytes))
  if (container === 'mp3') return seconds(await missingMp3Sec(path, file, sizeBytes))
  const bytes = await missingBytes(file, sizeBytes, container)
  return bytes > 0 ? `${bytes} bytes` : undefined
}

function seconds(missingSec: number): string | undefined {
  return missingSec > 0 ? `${missingSec < 10 ? missingSec.toFixed(2) : Math.round(missingSec)} s` : undefined
}

async function missingBytes(file: FileHandle, sizeBytes: number, container: string): Promise<number> {
  switch (container) {
    case 'mp4':
    case 'mov':
    case 'm4a':
    case 'm4v':
    case '3gp':
    case '3g2':
      return Math.max(0, (await endOfBoxes(file, sizeBytes)) - sizeBytes)
    case 'mkv':
    case 'webm':
      return Math.max(0, (await endOfSegment(file)) - sizeBytes)
    case 'wav':
    case 'avi':
      return Math.max(0, (await endOfRiff(file)) - sizeBytes)
    case 'aiff':
      return Math.max(0, (await endOfForm(file)) - sizeBytes)
    default:
      return 0
  }
}

/** ISO base media: walks the top-level boxes; only their 16-byte headers are read. */
async function endOfBoxes(file: FileHandle, sizeBytes: number): Promise<number> {
  let at = 0
  while (at + 8 <= sizeBytes) {
    const header = await readAt(file, at, 16)
    if (header.length < 8 || !/^[\w© -]{4}$/.test(header.toString('latin1', 4, 8))) return at
    const short = header.readUInt32BE(0)
    // 0: to the end of the file; 1: the size follows as 64 bits.
    if (short === 0) return sizeBytes
    const size = short === 1 && header.length >= 16 ? Number(header.readBigUInt64BE(8)) : short
    if (size < 8) return at
    at += size
  }
  return at
}

/** Matroska: the Segment's own size, if it was written (live recordings leave it unknown). */
async function endOfSegment(file: FileHandle): Promise<number> {
  const segment = await matroskaSegment(file)
  if (!segment || segment.head.length === null) return 0
  return segment.start + segment.head.headBytes + segment.head.length
}

/** RIFF: the first chunk's size, unless the file was streamed. The pad byte at the end is often missing. */
async function endOfRiff(file: FileHandle): Promise<number> {
  const head = await readAt(file, 0, 12)
  if (head.length < 12 || head.toString('latin1', 0, 4) !== 'RIFF') return 0
  const size = head.readUInt32LE(4)
  return isStreamedSize(size) ? 0 : 8 + size - 1
}

async function endOfForm(file: FileHandle): Promise<number> {
  const head = await readAt(file, 0, 12)
  if (head.length < 12 || head.toString('latin1', 0, 4) !== 'FORM') return 0
  return 8 + head.readUInt32BE(4) - 1
}
