import { open, stat } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { ffprobeLines } from '../../ffmpeg/ffprobe.js'
import type { MediaInfo } from '../../media-info.js'
import { tagBlocks } from '../../probe/ends/tag-blocks.js'
import { type NearReader, nearReader } from '../../probe/near-reader.js'
import { type BytePiece, type BytePlan, lengthOf, newBytes } from '../byte-plan.js'
import { type CensusEntry, kept, rewritten } from '../census.js'
import type { LevelField } from '../level/level-field.js'
import type { PcmDonor } from '../pcm-in-place/bext-loudness.js'
import { measureSamples } from '../pcm-in-place/pcm-donor.js'
import { chunkLevels, type StaleChunk, staleChange } from '../pcm-in-place/stale-chunks.js'
import { inPlace, type Replacement, withReplacements } from '../replacements.js'
import { requireSane } from '../structure/structure.js'
import { declines, lateSamples, type Survey, type Wanted, type WantedTrack, type Writer } from '../writer.js'
import { foreignEntries, staleForeignChunks } from './foreign-chunks.js'
import type { KeptTag } from './id3-frames.js'
import { keepHead, keepTail } from './kept-tags.js'
import { commentEntries, commentLevels, freshCommentPieces, staleComments } from './vorbis-comments.js'

const STREAMINFO = 0
const SEEKTABLE = 3
const APPLICATION = 2
const COMMENTS = 4
const NAMES = ['STREAMINFO', 'PADDING', 'APPLICATION', 'SEEKTABLE', 'VORBIS_COMMENT', 'CUESHEET', 'PICTURE']
const SEEK_POINT_BYTES = 18
const PLACEHOLDER = 0xffff_ffff_ffff_ffffn

/** A metadata block (RFC 9639, section 8.1). Offsets in bytes, its four-byte header included. */
interface Block {
  readonly type: number
  readonly start: number
  readonly length: number
}

interface FlacFile {
  readonly marker: number
  readonly blocks: readonly Block[]
  /** Content of the seek table; null if there is none. */
  readonly seekTable: Buffer | null
  /** Content of the comment block; null if none of its comments is stale. */
  readonly comments: Buffer | null
  readonly framesStart: number
  readonly framesEnd: number
  readonly before: KeptTag
  readonly behind: KeptTag
  readonly levels: readonly LevelField[]
  /** Chunks of the file from which it was made. */
  readonly foreign: readonly StaleChunk[]
}

interface FlacDonor extends PcmDonor {
  readonly streamInfo: Buffer
  readonly framesStart: number
  readonly sizeBytes: number
  /** First sample and offset from the first frame, of every frame; only if a seek table needs them. */
  readonly frames: readonly { readonly sample: number; readonly offset: number; readonly samples: number }[]
}

/** Writes FLAC: new frames, STREAMINFO and seek points after the input's own metadata blocks. */
export const flacFrames: Writer<FlacFile, FlacDonor> = { name: 'frames', parse, survey, readDonor, layOut }

async function parse(media: MediaInfo): Promise<FlacFile | null> {
  if (media.container !== 'flac') return null
  await using file = await open(media.path, 'r')
  const { head, tail, soundStart, soundEnd } = await tagBlocks(file, media.sizeBytes)
  const read = await readBlocks(nearReader(file), soundStart)
  if (!read) return null
  const blockOf = (wanted: number) => read.blocks.find(({ type }) => type === wanted)
  const contentOf = async (wanted: number) => {
    const block = blockOf(wanted)
    return block ? await readAt(file, block.start + 4, block.length - 4) : null
  }
  const comments = await contentOf(COMMENTS)
  const before = await keepHead(file, head)
  const behind = await keepTail(file, tail)
  const applications = read.blocks.filter(({ type }) => type === APPLICATION)
  const foreign = await staleForeignChunks(file, applications)
  const levels = commentLevels(comments ?? Buffer.alloc(0), (blockOf(COMMENTS)?.start ?? 0) + 4)
  return {
    marker: soundStart,
    blocks: read.blocks,
    seekTable: await contentOf(SEEKTABLE),
    comments: comments && staleComments(comments).length > 0 ? comments : null,
    framesStart: read.framesStart,
    framesEnd: soundEnd,
    before,
    behind,
    levels: [...before.levels, ...levels, ...behind.levels, ...chunkLevels(foreign)],
    foreign,
  }
}

async function readBlocks(read: NearReader, marker: number) {
  if ((await read(marker, 4)).toString('latin1') !== 'fLaC') return undefined
  const blocks: Block[] = []
  let at = marker + 4
  for (let isLast = false; !isLast; ) {
    const head = await read(at, 4)
    if (head.length < 4) return undefined
    isLast = ((head[0] ?? 0) & 0x80) !== 0
    const length = 4 + head.readUIntBE(1, 3)
    blocks.push({ type: (head[0] ?? 0) & 0x7f, start: at, length })
    requireSane(blocks, 'metadata blocks')
    at += length
  }
  return blocks[0]?.type === STREAMINFO && blocks[0].length === 38 ? { blocks, framesStart: at } : undefined
}

function survey(parsed: FlacFile, { media, tracks }: Wanted): Survey {
  const { marker, blocks, comments, framesStart, framesEnd, before, behind, levels, foreign } = parsed
  const [track] = tracks
  if (track?.encoding.codec !== 'flac') return declines('its audio does not stay FLAC')
  const census = [
    ...before.entries,
    ...behind.entries,
    kept('fLaC', marker, 4),
    ...blocks.flatMap((block) => blockEntries(block, comments, foreign)),
    rewritten('frames', framesStart, framesEnd - framesStart, 'the audio is re-encoded without loss'),
  ]
  const skipSamples = lateSamples(media, track.input)
  return {
    kind: 'takes',
    census,
    levels,
    donors: [{ muxer: 'flac', options: [], skipSamples, sampleCount: null, priming: 'signalled' }],
  }
}

function blockEntries(
  { type, start, length }: Block,
  comments: Buffer | null,
  foreign: readonly StaleChunk[],
): readonly CensusEntry[] {
  const name = NAMES[type] ?? `block ${type}`
  const fact = foreign.find(({ chunk }) => chunk.start > start && chunk.start < start + length)
  if (fact) return foreignEntries({ start, length }, name, fact)
  if (type === STREAMINFO) return [rewritten(name, start, length, 'sizes, length and MD5 are those of the new sound')]
  if (type === SEEKTABLE) return [rewritten(name, start, length, 'its points lead to the new frames')]
  if (type !== COMMENTS || comments === null) return [kept(name, start, length)]
  return [rewritten(name, start, 4, 'its size'), ...commentEntries(comments, start + 4, name)]
}

async function readDonor(
  path: string,
  track: WantedTrack,
  signal: AbortSignal | undefined,
  { seekTable, foreign }: FlacFile,
): Promise<FlacDonor> {
  await using file = await open(path, 'r')
  const blocks = await readBlocks(nearReader(file), 0)
  const framesStart = blocks?.framesStart ?? 0
  return {
    streamInfo: await readAt(file, 8, 34),
    framesStart,
    sizeBytes: (await stat(path)).size,
    frames: seekTable ? await framePlaces(path, framesStart, signal) : [],
    ...(await measureSamples(path, { track, stale: foreign, samples: { readOptions: [] }, signal })),
  }
}

async function framePlaces(
  path: string,
  framesStart: number,
  signal: AbortSignal | undefined,
): Promise<FlacDonor['frames']> {
  const frames: FlacDonor['frames'][number][] = []
  const entries = 'packet=pos,duration,size:stream=time_base'
  const show = ['-show_entries', entries, '-print_format', 'compact=print_section=0']
  let sample = 0
  let offset = framesStart
  await ffprobeLines(
    path,
    show,
    (line) => {
      const [, samples, size] = /^duration=(\d+)\|size=(\d+)/.exec(line) ?? []
      if (samples === undefined) return
      frames.push({ sample, offset: offset - framesStart, samples: Number(samples) })
      sample += Number(samples)
      offset += Number(size)
    },
    { signal },
  )
  return frames
}

function layOut(file: FlacFile, { media: { sizeBytes } }: Wanted, [donor]: readonly FlacDonor[]): BytePlan {
  if (!donor) throw new RangeError('FLAC has no donor.')
  const { marker, before, blocks, seekTable, comments, framesStart, behind, foreign } = file
  const inside = blocks.flatMap(({ type, start, length }): readonly Replacement[] => {
    if (type === STREAMINFO) return [inPlace(start + 4, [newBytes(donor.streamInfo)])]
    if (type === SEEKTABLE && seekTable) return [inPlace(start + 4, [newBytes(seekPoints(seekTable, donor.frames))])]
    if (type === COMMENTS && comments) {
      return [{ start: start + 1, end: start + length, pieces: commentBlock(comments, start + 4) }]
    }
    const facts = foreign.filter(({ chunk }) => chunk.start > start && chunk.start < start + length)
    return facts.map((fact) => staleChange(fact, 'JUNK', donor))
  })
  const frames = {
    kind: 'donor',
    donor: 0,
    start: donor.framesStart,
    length: donor.sizeBytes - donor.framesStart,
  } as const
  const edits = [
    { start: 0, end: marker, pieces: before.pieces },
    ...inside,
    { start: framesStart, end: sizeBytes, pieces: [frames, ...behind.pieces] },
  ]
  return withReplacements(sizeBytes, () => [edits])
}

/** Size and content of a block without stale comments. */
function commentBlock(comments: Buffer, start: number): readonly BytePiece[] {
  const content = freshCommentPieces(comments, start)
  const size = Buffer.alloc(3)
  size.writeUIntBE(lengthOf(content), 0, 3)
  return [newBytes(size), ...content]
}

/** The same points in time on the new frames. A point without a frame becomes a placeholder. */
function seekPoints(table: Buffer, frames: FlacDonor['frames']): Buffer {
  const points = Buffer.from(table)
  const used = new Set<number>()
  const made: Buffer[] = []
  for (let at = 0; at + SEEK_POINT_BYTES <= table.length; at += SEEK_POINT_BYTES) {
    const sample = table.readBigUInt64BE(at)
    if (sample === PLACEHOLDER) continue
    const frame = frames.findLast((each) => each.sample <= sample && sample < each.sample + each.samples)
    if (!frame || used.has(frame.sample)) continue
    used.add(frame.sample)
    const point = Buffer.alloc(SEEK_POINT_BYTES)
    point.writeBigUInt64BE(BigInt(frame.sample), 0)
    point.writeBigUInt64BE(BigInt(frame.offset), 8)
    point.writeUInt16BE(frame.samples, 16)
    made.push(point)
  }
  const whole = table.length - (table.length % SEEK_POINT_BYTES)
  // Placeholders follow all points, and their other fields have no meaning.
  points.fill(0, 0, whole)
  for (let at = 0; at < whole; at += SEEK_POINT_BYTES) points.writeBigUInt64BE(PLACEHOLDER, at)
  Buffer.concat(made).copy(points)
  return points
}
