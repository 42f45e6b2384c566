import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { readAt } from '../../core/read-at.js'
import type { MediaInfo } from '../media-info.js'
import { childrenIn } from '../probe/movie/child-boxes.js'
import { fileBoxes } from '../probe/movie/movie-boxes.js'
import { boxOf, frameTables, type MovieSample, tabledSamples } from './sample-tables.js'

/** Bytes of a frame behind its first one, by the mode in that one (3GPP TS 26.101 and TS 26.201). */
const AMR_MODES: Readonly<Record<string, readonly number[]>> = {
  samr: [12, 13, 15, 17, 19, 20, 26, 31, 5],
  sawb: [17, 23, 32, 36, 40, 46, 50, 58, 60, 5],
}
/** Boxes that hold others, down to the tables of samples. */
const PARENTS: ReadonlySet<string> = new Set(['trak', 'mdia', 'minf'])
const READ_BYTES = 1 << 20

/** A track of sound: its box, the box that describes its samples, and the samples. */
interface SoundTrack {
  readonly box: Buffer
  readonly description: Buffer
  readonly samples: readonly MovieSample[]
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
    const found = new Map<string, Buffer>()
    for await (const { type, startAt, endAt } of fileBoxes(file, sizeBytes)) {
      if (type === 'ftyp' || type === 'moov') found.set(type, await readAt(file, startAt, endAt - startAt))
    }
    const index = found.get('moov') ?? Buffer.alloc(0)
    const tracks: SoundTrack[] = []
    for (const box of boxesOf(index, 'trak')) tracks.push(...(await soundTracks(file, box)))
    const head = (laterBytes: number) => {
      const boxes = tracks.map((track) =>
        withTables(track.box, frameTables(track.description, track.samples, laterBytes)),
      )
      return [
        found.get('ftyp') ?? Buffer.alloc(0),
        boxOf('moov', [...boxesOf(index, 'mvhd'), ...boxes]),
        mediaHead(sizeBytes),
      ]
    }
    // Places have a fixed length, so a first index tells by how much the second one moves the file.
    yield Buffer.concat(head(Buffer.concat(head(0)).length))
    yield* createReadStream(path, { highWaterMark: READ_BYTES })
  } finally {
    await file.close()
  }
}

/** The boxes of a type in another box. */
function boxesOf(parent: Buffer, type: string): readonly Buffer[] {
  return [...childrenIn(parent, 8, parent.length)]
    .filter((child) => child.type === type)
    .map(({ startAt, endAt }) => parent.subarray(startAt, endAt))
}

/** The head of a `mdat` that holds the whole file. */
function mediaHead(sizeBytes: number): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32BE(1)
  head.write('mdat', 4)
  head.writeBigUInt64BE(BigInt(head.length + sizeBytes), 8)
  return head
}

/** A track if it is one of sound. */
async function soundTracks(file: FileHandle, box: Buffer): Promise<readonly SoundTrack[]> {
  const [mediaBox] = boxesOf(box, 'mdia')
  const [handler] = mediaBox ? boxesOf(mediaBox, 'hdlr') : []
  const [tables] = mediaBox ? boxesOf(mediaBox, 'minf').flatMap((inner) => boxesOf(inner, 'stbl')) : []
  const [description] = tables ? boxesOf(tables, 'stsd') : []
  if (!tables || !description || handler?.toString('latin1', 16, 20) !== 'soun') return []
  const modes = AMR_MODES[description.toString('latin1', 20, 24)]
  const samples = tabledSamples(tables)
  return [{ box, description, samples: modes ? await framed(file, samples, modes) : samples }]
}

/** Samples with the sizes of the frames in them. */
async function framed(file: FileHandle, samples: readonly MovieSample[], modes: readonly number[]) {
  const result: MovieSample[] = []
  for (const sample of samples) {
    const bytes = await readAt(file, sample.at, sample.frameBytes[0] ?? 0)
    const frameBytes: number[] = []
    for (let at = 0; at < bytes.length; at += frameBytes.at(-1) ?? 1) {
      const mode = ((bytes[at] as number) >> 3) & 15
      frameBytes.push(Math.min(1 + (modes[mode] ?? 0), bytes.length - at))
    }
    result.push({ ...sample, frameBytes })
  }
  return result
}

/** A box of a track with other tables of samples. */
function withTables(box: Buffer, tables: Buffer): Buffer {
  const children = [...childrenIn(box, 8, box.length)].map(({ type, startAt, endAt }) => {
    const child = box.subarray(startAt, endAt)
    if (type === 'stbl') return tables
    return PARENTS.has(type) ? withTables(child, tables) : child
  })
  return boxOf(box.toString('latin1', 4, 8), children)
}
