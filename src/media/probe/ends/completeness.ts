import type { FileHandle } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import { malformedReason } from '../malformed-file.js'
import { matroskaSegment } from '../matroska/matroska-clock.js'
import { isCutEnd } from '../movie/box.js'
import { parseHeader } from '../movie/parse-boxes.js'
import { nearReader } from '../near-reader.js'
import { endOfAsf } from './asf-end.js'
import { endOfAu, endOfCaf, endOfForm, endOfRiff, endOfWave64 } from './chunk-ends.js'
import { missingFlacSec } from './flac-end.js'
import { missingFlvBytes } from './flv-end.js'
import { missingMp3Sec } from './mp3-end.js'
import { endOfMxf } from './mxf-end.js'
import { endOfTta, missingWavPackSamples } from './packed-ends.js'

/** A file whose end may be looked at. */
interface OpenMedia extends Pick<MediaInfo, 'path' | 'sizeBytes' | 'container'> {
  readonly file: FileHandle
}

/**
 * Tells whether a file ends before its own headers say so: ffprobe opens such a file if the index is at the beginning.
 * A file that holds more than its headers state is whole.
 *
 * @returns what is missing at its end, as `1234 bytes`, `1234 samples` or `1.5 s`; undefined if nothing is known to be missing
 */
export async function missingEnd(media: OpenMedia): Promise<string | undefined> {
  try {
    return await missingPart(media)
  } catch (error) {
    // The plan gives the reason why no writer takes such a file, as one with too many tags.
    malformedReason(error)
    return undefined
  }
}

async function missingPart({ path, file, sizeBytes, container }: OpenMedia): Promise<string | undefined> {
  if (container === 'flac') return seconds(await missingFlacSec(file, sizeBytes))
  if (container === 'mp3') return seconds(await missingMp3Sec(path, file, sizeBytes))
  if (container === 'wv') return counted(await missingWavPackSamples(file, sizeBytes), 'samples')
  const isFlv = container === 'flv'
  const bytes = isFlv
    ? await missingFlvBytes(file, sizeBytes)
    : ((await STATED_ENDS[container]?.(file, sizeBytes)) ?? 0) - sizeBytes
  return counted(bytes, 'bytes')
}

function counted(missing: number, unit: 'bytes' | 'samples'): string | undefined {
  return missing > 0 ? `${missing} ${unit}` : undefined
}

function seconds(missingSec: number): string | undefined {
  return missingSec > 0 ? `${missingSec < 10 ? missingSec.toFixed(2) : Math.round(missingSec)} s` : undefined
}

/** The end that a file states for itself, in bytes; 0 if it states none. By container. */
const STATED_ENDS: Readonly<Record<string, (file: FileHandle, sizeBytes: number) => Promise<number>>> = {
  ...{ mp4: endOfBoxes, mov: endOfBoxes, m4a: endOfBoxes, m4v: endOfBoxes, '3gp': endOfBoxes, '3g2': endOfBoxes },
  ...{ mkv: endOfSegment, webm: endOfSegment, wav: endOfRiff, avi: endOfRiff, aiff: endOfForm, w64: endOfWave64 },
  ...{ caf: endOfCaf, au: endOfAu, wma: endOfAsf, wmv: endOfAsf, mxf: endOfMxf, tta: endOfTta },
}

/** ISO base media: walks the top-level boxes; only their 16-byte headers are read. */
async function endOfBoxes(file: FileHandle, sizeBytes: number): Promise<number> {
  const read = nearReader(file)
  let at = 0
  while (at + 8 <= sizeBytes) {
    const header = parseHeader(await read(at, 16))
    if (!header || !/^[\w© -]{4}$/.test(header.type)) return at
    const { type, length } = header
    if (length === null) return sizeBytes
    if (length < 8 || (at + length > sizeBytes && !isCutEnd(type))) return at
    at += length
  }
  return at
}

/** Matroska: the Segment's own size, if it was written (live recordings leave it unknown). */
async function endOfSegment(file: FileHandle): Promise<number> {
  const segment = await matroskaSegment(file)
  if (!segment || segment.head.length === null) return 0
  return segment.start + segment.head.headBytes + segment.head.length
}
