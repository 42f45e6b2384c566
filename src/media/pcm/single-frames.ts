import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { readAt } from '../../core/read-at.js'
import { unreadable } from '../ffmpeg/ffmpeg-failure.js'
import type { MediaInfo } from '../media-info.js'
import { MalformedFile } from '../probe/malformed-file.js'
import { type Box, bodyOf, childAt, childBoxes, makeBox, withDescendants } from '../probe/movie/box.js'
import {
  makeChunkLayout,
  makeChunkOffsets,
  makeDurations,
  makeSizes,
  writeChunkOffsets,
} from '../probe/movie/make-tables.js'
import { fileBoxes } from '../probe/movie/movie-boxes.js'
import { parseBoxes } from '../probe/movie/parse-boxes.js'
import { chunkOffsets, groupDurations, samplesInChunks, trackChunks } from '../probe/movie/sample-table.js'

const READ_BYTES = 1 << 20

/** A track of sound: its box, the box of its tables, and what that will hold. */
interface SoundTrack extends FramedTables {
  readonly box: Box
  readonly stbl: Box
}

/**
 * A movie's sound alone, in which each frame of AMR is a sample of its own. Telephones store up to ten in one, and
 * ffmpeg decodes only the first of them. Times and edit lists stay. Nothing is read before the stream is.
 */
export function singleFrames(media: Pick<MediaInfo, 'path' | 'sizeBytes'>): Readable {
  return Readable.from(movieBytes(media), { objectMode: false })
}

async function* movieBytes({ path, sizeBytes }: Pick<MediaInfo, 'path' | 'sizeBytes'>) {
  const file = await open(path, 'r')
  try {
    yield await movieHead(file, sizeBytes)
    yield* createReadStream(path, { highWaterMark: READ_BYTES })
  } catch (error) {
    if (!(error instanceof MalformedFile)) throw error
    throw unreadable(`${path} has a broken index: ${error.message}`, { input: path, cause: error })
  } finally {
    await file.close()
  }
}

/** All that stands in front of the bytes of the file: type, index, and the head of a box that holds the whole file. */
async function movieHead(file: FileHandle, sizeBytes: number): Promise<Buffer> {
  const found = new Map<string, Buffer>()
  for await (const { type, startAt, endAt } of fileBoxes(file, sizeBytes)) {
    if (type === 'ftyp' || type === 'moov') found.set(type, await readAt(file, startAt, endAt - startAt))
  }
  const [moov] = parseBoxes(found.get('moov') ?? Buffer.alloc(0), 0, '')
  const tracks: SoundTrack[] = []
  for (const box of childBoxes(moov, 'trak')) tracks.push(...(await soundTracks(file, box)))
  const head = (laterBytes: number) => {
    const index = [
      childAt(moov, 'mvhd')?.bytes ?? Buffer.alloc(0),
      ...tracks.map((track) => trackBox(track, laterBytes)),
    ]
    return Buffer.concat([
      found.get('ftyp') ?? Buffer.alloc(0),
      makeBox('moov', Buffer.concat(index)),
      dataHead(sizeBytes),
    ])
  }
  // Places have a fixed length, so a first head tells by how much the second one moves the file.
  return head(head(0).length)
}

function dataHead(sizeBytes: number): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32BE(1)
  head.write('mdat', 4)
  head.writeBigUInt64BE(BigInt(head.length + sizeBytes), 8)
  return head
}

async function soundTracks(file: FileHandle, box: Box): Promise<readonly SoundTrack[]> {
  const stbl = childAt(box, 'mdia', 'minf', 'stbl')
  const description = childAt(stbl, 'stsd')
  if (!stbl || !description?.bytes || bodyOf(childAt(box, 'mdia', 'hdlr')).toString('latin1', 8, 12) !== 'soun')
    return []
  const framed = await framedTables(file, stbl, description)
  if (framed) return [{ box, stbl, ...framed }]
  const tables = stbl.children.flatMap(({ type, bytes }) =>
    bytes && type !== 'stco' && type !== 'co64' ? [bytes] : [],
  )
  return [{ box, stbl, tables, offsets: chunkOffsets(stbl) }]
}

/** A track with its new tables. @param laterBytes by which the file lies later than the offsets say */
function trackBox({ box, stbl, tables, offsets }: SoundTrack, laterBytes: number): Buffer {
  const places = makeChunkOffsets(offsets.length, true)
  writeChunkOffsets(
    places,
    offsets.map((offset) => offset + laterBytes),
  )
  return replaced(box, stbl, makeBox('stbl', Buffer.concat([...tables, places])))
}

/** A box in which another one has new bytes. */
function replaced(box: Box, old: Box, bytes: Buffer): Buffer {
  if (box === old) return bytes
  if (![...withDescendants(box)].includes(old)) return box.bytes ?? Buffer.alloc(0)
  return makeBox(box.type, Buffer.concat(box.children.map((child) => replaced(child, old, bytes))))
}

/** Bytes of a frame behind its first one, by the mode in that one (3GPP TS 26.101 and TS 26.201). */
const AMR_MODES: Readonly<Record<string, readonly number[]>> = {
  samr: [12, 13, 15, 17, 19, 20, 26, 31, 5],
  sawb: [17, 23, 32, 36, 40, 46, 50, 58, 60, 5],
}

/** Tables of a track, and the places of its chunks in the file. */
interface FramedTables {
  readonly tables: readonly Buffer[]
  readonly offsets: Float64Array
}

/** Tables of AMR in which each frame is a sample, and each former sample a chunk; undefined for another codec. */
async function framedTables(file: FileHandle, stbl: Box, stsd: Box): Promise<FramedTables | undefined> {
  const modes = AMR_MODES[bodyOf(stsd).toString('latin1', 12, 16)]
  if (!modes) return undefined
  const offsets: number[] = []
  const counts: number[] = []
  const sizes: number[] = []
  const ticks: number[] = []
  for (const sample of samplesInChunks(stbl, trackChunks(stbl, null))) {
    const frames = frameSizes(await readAt(file, sample.start, sample.bytes), modes)
    // Tables can name four thousand million samples behind the end of the file.
    if (sample.bytes > 0 && frames.length === 0) return undefined
    offsets.push(sample.start)
    counts.push(frames.length)
    for (const [place, size] of frames.entries()) {
      sizes.push(size)
      ticks.push(shareOf(sample.ticks, frames.length, place))
    }
  }
  const tables = [
    ...[stsd.bytes ?? Buffer.alloc(0), makeDurations(groupDurations(ticks)), makeChunkLayout(counts)],
    makeSizes({ kind: 'each', bytes: Uint32Array.from(sizes) }),
  ]
  return { tables, offsets: Float64Array.from(offsets) }
}

function frameSizes(sample: Buffer, modes: readonly number[]): readonly number[] {
  const sizes: number[] = []
  for (let at = 0; at < sample.length; at += sizes.at(-1) as number) {
    const mode = ((sample[at] as number) >> 3) & 15
    sizes.push(Math.min(1 + (modes[mode] ?? 0), sample.length - at))
  }
  return sizes
}

/** Ticks of one of several frames that share a time. */
function shareOf(ticks: number, count: number, frame: number): number {
  return Math.floor((ticks * (frame + 1)) / count) - Math.floor((ticks * frame) / count)
}
