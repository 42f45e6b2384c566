import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { readAt } from '../../core/read-at.js'
import type { MediaInfo } from '../media-info.js'
import { unlessMalformed } from '../probe/malformed-file.js'
import { type Box, bodyOf, childAt, childBoxes } from '../probe/movie/box.js'
import { decodeTimeOf, trackIdOf } from '../probe/movie/fragment-facts.js'
import { fileBoxes, type MovieBox } from '../probe/movie/movie-boxes.js'
import { movieTracks } from '../probe/movie/movie-tracks.js'
import { parseBoxes } from '../probe/movie/parse-boxes.js'

/** Time by which sound may play earlier than its fragment states, as after the priming of an encoder. */
const MARGIN_SEC = 1
const READ_BYTES = 1 << 20

/**
 * A movie in fragments without those before a time: its index, then the fragments from the last ones on that begin before
 * that time. Nothing is read before the stream is.
 *
 * @param fromSec timestamp
 */
export function laterFragments(media: Pick<MediaInfo, 'path' | 'sizeBytes'>, fromSec: number): Readable {
  return Readable.from(laterBytes(media, fromSec - MARGIN_SEC), { objectMode: false })
}

async function* laterBytes({ path, sizeBytes }: Pick<MediaInfo, 'path' | 'sizeBytes'>, fromSec: number) {
  await using file = await open(path, 'r')
  const { head, startAt } = await lastStart(file, sizeBytes, fromSec)
  yield head
  for await (const box of fileBoxes(file, sizeBytes, startAt)) {
    if (box.type === 'moof') yield moved(await wholeBox(file, box), startAt - head.length)
    else yield* createReadStream(path, { start: box.startAt, end: box.endAt - 1, highWaterMark: READ_BYTES })
  }
}

/** The index, and the first byte of the fragments that are needed from a time on. */
async function lastStart(file: FileHandle, sizeBytes: number, fromSec: number) {
  const tracks = await movieTracks(file, sizeBytes)
  const rates = new Map(tracks.flatMap((track) => (track.handler === 'soun' ? [[track.id, track.ticksPerSec]] : [])))
  const head: Buffer[] = []
  const starts = new Map<number, number>()
  const passed = new Set<number>()
  let firstAt: number | undefined
  for await (const box of fileBoxes(file, sizeBytes)) {
    if (box.type === 'ftyp' || box.type === 'moov') head.push(await wholeBox(file, box))
    if (box.type !== 'moof') continue
    firstAt ??= box.startAt
    for (const { track, ticks } of fragmentTimes(await wholeBox(file, box))) {
      const rate = rates.get(track)
      if (rate !== undefined && ticks > fromSec * rate) passed.add(track)
      else starts.set(track, box.startAt)
    }
    if (passed.size === rates.size) break
  }
  const needed = [...rates.keys()].map((track) => starts.get(track) ?? firstAt ?? 0)
  return { head: Buffer.concat(head), startAt: Math.min(...needed) }
}

function wholeBox(file: FileHandle, { startAt, endAt }: MovieBox): Promise<Buffer> {
  return readAt(file, startAt, endAt - startAt)
}

/** The `traf` boxes of a `moof`; none of a broken one, which ffmpeg does not read either. */
function trackFragments(moof: Buffer): readonly Box[] {
  return unlessMalformed(() => childBoxes(parseBoxes(moof, 0, '')[0], 'traf'), [])
}

/** Track and decoding time of each fragment that states both. */
function* fragmentTimes(moof: Buffer): Generator<{ readonly track: number; readonly ticks: number }> {
  for (const traf of trackFragments(moof)) {
    const [track, ticks] = [trackIdOf(traf), decodeTimeOf(traf)]
    if (track !== undefined && ticks !== null) yield { track, ticks }
  }
}

const BASE_IS_STATED = 1

/** A `moof` that lies some bytes earlier than in its file. */
function moved(moof: Buffer, bytes: number): Buffer {
  for (const traf of trackFragments(moof)) {
    const header = bodyOf(childAt(traf, 'tfhd'))
    if (header.length < 16 || ((header[3] as number) & BASE_IS_STATED) === 0) continue
    header.writeBigUInt64BE(header.readBigUInt64BE(8) - BigInt(bytes), 8)
  }
  return moof
}
