import { type FileHandle, open, stat } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { adtsLength } from '../../probe/adts-length.js'
import { type BytePiece, bytePlan } from '../byte-plan.js'
import { type CensusEntry, kept, lost, rewritten } from '../census.js'
import type { LevelField } from '../level/level-field.js'
import type { DonorFormat, Survey, Wanted, Writer } from '../writer.js'
import { type KeptTag, keepId3 } from './id3-frames.js'
import { type FoundFrames, type FrameRange, layerThreeLength, mpegFrames } from './mpeg-frames.js'
import { type FramesDonor, spliceableFrames } from './splice-frames.js'
import { tagBlocks } from './tag-blocks.js'
import { keepTail } from './tail-tags.js'

interface ElementaryFile {
  readonly codec: string
  readonly before: readonly CensusEntry[]
  /** Bytes before the frames; tags without stale facts. */
  readonly beforeBytes: readonly BytePiece[]
  readonly frames: FoundFrames
  /** True if no other bytes lie between: only then do players find the header that states the lead-in of an MP3. */
  readonly followsTags: boolean
  readonly behind: KeptTag
  readonly levels: readonly LevelField[]
}

/** Codec of each container, with the settings for ffmpeg to write only frames. */
const KINDS: Readonly<
  Record<string, { readonly codec: string; readonly donor: Pick<DonorFormat, 'muxer' | 'options'> }>
> = {
  mp3: { codec: 'mp3', donor: { muxer: 'mp3', options: ['-id3v2_version', '0', '-write_id3v1', '0'] } },
  aac: { codec: 'aac', donor: { muxer: 'adts', options: [] } },
  ac3: { codec: 'ac3', donor: { muxer: 'ac3', options: [] } },
  eac3: { codec: 'eac3', donor: { muxer: 'eac3', options: [] } },
  mp2: { codec: 'mp2', donor: { muxer: 'mp2', options: [] } },
}

/** Writes MP3, ADTS, AC-3, E-AC-3 and MPEG layer II: new frames between the tags of the input. */
export const elementaryFrames: Writer<ElementaryFile, FramesDonor> = {
  name: 'frames',
  parse,
  survey,
  readDonor: async (path) => ({ sizeBytes: (await stat(path)).size, info: null }),
  splice: async ({ codec, frames }, { media }) => spliceableFrames(media, codec, frames),
  layOut: ({ beforeBytes, behind }, _wanted, [donor]) =>
    bytePlan([
      ...beforeBytes,
      { kind: 'bytes', bytes: donor?.info ?? Buffer.alloc(0) },
      { kind: 'donor', donor: 0, start: 0, length: donor?.sizeBytes ?? 0 },
      ...behind.pieces,
    ]),
}

async function parse(media: MediaInfo): Promise<ElementaryFile | null> {
  const kind = KINDS[media.container]
  if (!kind) return null
  await using file = await open(media.path, 'r')
  const { head, tail, soundStart, soundEnd } = await tagBlocks(file, media.sizeBytes)
  const frames = await framesOf(file, media.container, { start: soundStart, end: soundEnd })
  if (!frames) return null
  const before: CensusEntry[] = []
  const beforeBytes: BytePiece[] = []
  const levels: LevelField[] = []
  for (const { start, length } of head) {
    const tag = keepId3(await readAt(file, start, length), start)
    // A tag can have more frames than a call takes arguments.
    for (const entry of tag.entries) before.push(entry)
    for (const piece of tag.pieces) beforeBytes.push(piece)
    levels.push(...tag.levels)
  }
  const lead = frames.start - soundStart
  if (lead > 0) before.push(kept('bytes before the frames', soundStart, lead))
  beforeBytes.push({ kind: 'input', start: soundStart, length: lead })
  const rest = { path: 'bytes behind the frames', start: frames.end, length: soundEnd - frames.end }
  const behind = await keepTail(file, rest.length > 0 ? [rest, ...tail] : tail)
  levels.push(...behind.levels)
  return { codec: kind.codec, before, beforeBytes, frames, followsTags: lead === 0, behind, levels }
}

/** The range of the frames, without bytes around it that are none. */
async function framesOf(file: FileHandle, container: string, range: FrameRange): Promise<FoundFrames | undefined> {
  if (container !== 'mp3' && container !== 'aac') return { ...range, between: [] }
  return mpegFrames(file, range, container === 'mp3' ? layerThreeLength : adtsLength)
}

function survey(parsed: ElementaryFile, { media, tracks }: Wanted): Survey {
  const { codec, before, frames, followsTags, behind, levels } = parsed
  const [track] = tracks
  const kind = KINDS[media.container]
  if (!track || tracks.length > 1 || !kind) return { kind: 'declines', reason: 'it has several audio tracks' }
  if (track.input.codec !== codec || track.encoding.codec !== codec) {
    return { kind: 'declines', reason: `its audio is ${track.input.codec}, and becomes ${track.encoding.codec}` }
  }
  const lateSec = (track.input.startSec ?? media.startSec) - media.startSec
  const isSignalled = codec === 'mp3' && followsTags
  return {
    kind: 'takes',
    census: [...before, ...framesEntries(frames, codec), ...behind.entries],
    levels,
    donors: [
      {
        ...kind.donor,
        options: codec === 'mp3' ? [...kind.donor.options, '-write_xing', isSignalled ? '1' : '0'] : kind.donor.options,
        skipSamples: Math.max(0, Math.round(lateSec * track.input.sampleRate)),
        sampleCount: null,
        leadIn: isSignalled ? 'signalled' : 'trimmed',
      },
    ],
  }
}

/** The frames, and what lies between them. */
function framesEntries({ start, end, between }: FoundFrames, codec: string): readonly CensusEntry[] {
  const entries: CensusEntry[] = []
  let at = start
  for (const other of [...between, { path: '', start: end, length: 0 }]) {
    if (other.start > at) entries.push(rewritten('frames', at, other.start - at, `the audio is re-encoded as ${codec}`))
    if (other.length > 0)
      entries.push(lost(other.path, other.start, other.length, 'the new sound has no such place between frames'))
    at = other.start + other.length
  }
  return entries
}
