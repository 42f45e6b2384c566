import { type FileHandle, open, stat } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { adtsLength } from '../../probe/adts-length.js'
import { tagBlocks } from '../../probe/ends/tag-blocks.js'
import { bytePlan, newBytes } from '../byte-plan.js'
import { type CensusEntry, lost, rewritten, withGaps } from '../census.js'
import type { Structure } from '../structure/structure.js'
import { type DonorFormat, declines, lateSamples, type Survey, type Wanted, type Writer } from '../writer.js'
import { ac3Length, eac3Length } from './dolby-frames.js'
import type { KeptTag } from './id3-frames.js'
import { keepHead, keepTail } from './kept-tags.js'
import {
  type FoundFrames,
  type FrameRange,
  HEAD_BYTES,
  layerThreeLength,
  layerTwoLength,
  mpegFrames,
  WINDOW_BYTES,
} from './mpeg-frames.js'
import { type FramesDonor, spliceableFrames } from './splice-frames.js'
import { wavPackExtras } from './wavpack-extras.js'

interface ElementaryFile {
  /** Bytes before the frames: tags without stale facts. */
  readonly before: KeptTag
  readonly frames: FoundFrames
  /** True if no other bytes lie between: only then do players find the header that states the priming of an MP3. */
  readonly followsTags: boolean
  readonly behind: KeptTag
}

/** The settings for ffmpeg to write only frames, by container. */
export const FRAME_DONORS: Readonly<Record<string, Pick<DonorFormat, 'muxer' | 'options'>>> = {
  mp3: { muxer: 'mp3', options: ['-id3v2_version', '0', '-write_id3v1', '0', '-write_xing', '0'] },
  aac: { muxer: 'adts', options: [] },
  ac3: { muxer: 'ac3', options: [] },
  eac3: { muxer: 'eac3', options: [] },
  mp2: { muxer: 'mp2', options: [] },
  tta: { muxer: 'tta', options: [] },
  wv: { muxer: 'wv', options: [] },
}

/** Writes MP3, ADTS, AC-3, E-AC-3, MPEG layer II, True Audio and WavPack: new frames between the tags of the input. */
export const elementaryFrames: Writer<ElementaryFile, FramesDonor> = {
  name: 'frames',
  parse,
  survey,
  readDonor: async (path) => ({ sizeBytes: (await stat(path)).size, info: null }),
  splice: async ({ frames }, { media }) => spliceableFrames(media, media.container, frames),
  layOut: ({ before, behind }, _wanted, [donor]) =>
    bytePlan([
      ...before.pieces,
      newBytes(donor?.info ?? Buffer.alloc(0)),
      { kind: 'donor', donor: 0, start: 0, length: donor?.sizeBytes ?? 0 },
      ...behind.pieces,
    ]),
}

async function parse(media: MediaInfo, signal?: AbortSignal): Promise<ElementaryFile | null> {
  if (!FRAME_DONORS[media.container]) return null
  await using file = await open(media.path, 'r')
  const { head, tail, soundStart, soundEnd } = await tagBlocks(file, media.sizeBytes)
  const range = { start: soundStart, end: soundEnd }
  const frames = await (FINDERS[media.container] ?? everything)(file, range, signal)
  if (!frames) return null
  const [lead, rest] = around(range, frames)
  return {
    before: await keepHead(file, [...head, ...lead]),
    frames,
    followsTags: lead.length === 0,
    behind: await keepTail(file, [...rest, ...tail]),
  }
}

/** Name of kept bytes that are neither a tag nor a frame. */
export const BYTES_BEFORE = 'bytes before the frames'

type LengthAt = (head: Buffer, at: number) => number
/** Finds the range of the frames, without bytes around it that are none; undefined if there are no frames. */
type FindFrames = (file: FileHandle, range: FrameRange, signal?: AbortSignal) => Promise<FoundFrames | undefined>

const wholeFrames =
  (lengthAt: LengthAt): FindFrames =>
  async (file, range, signal) => {
    const found = await mpegFrames(file, range, lengthAt, signal)
    const [lead] = found ? around(range, found)[0] : []
    if (!found || !lead || !(await holdsSync(file, lead))) return found
    return { ...found, start: range.start, between: [lead, ...found.between] }
  }

/** True if a frame seems to begin in some bytes. ffmpeg makes packets of them, which depend on the frames that follow. */
async function holdsSync(file: FileHandle, { start, length }: Structure): Promise<boolean> {
  const end = start + length
  for (let from = start; from < end; from += WINDOW_BYTES) {
    const bytes = await readAt(file, from, Math.min(WINDOW_BYTES, end - from) + 1)
    for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
      if ((bytes[at + 1] ?? 0) >= 0xe0 && from + at < end) return true
    }
  }
  return false
}

/** ffmpeg takes a frame that the end of the file cuts off for one, so a new frame takes its time. */
const framesToTheEnd =
  (lengthAt: LengthAt): FindFrames =>
  async (file, range, signal) => {
    const found = await wholeFrames(lengthAt)(file, range, signal)
    return found && (await isFrame(file, found.end, lengthAt)) ? { ...found, end: range.end } : found
  }

/** For ffmpeg, other bytes around these frames last as long as a frame. New frames take that time. */
const dolbyFrames =
  (lengthAt: LengthAt): FindFrames =>
  async (file, range, signal) => {
    const found = await framesToTheEnd(lengthAt)(file, range, signal)
    const [lead, rest] = found ? around(range, found) : [[], []]
    return { ...range, between: [...lead, ...(found?.between ?? []), ...rest] }
  }

const FINDERS: Readonly<Record<string, FindFrames>> = {
  mp3: wholeFrames(layerThreeLength),
  aac: wholeFrames(adtsLength),
  mp2: framesToTheEnd(layerTwoLength),
  ac3: dolbyFrames(ac3Length),
  eac3: dolbyFrames(eac3Length),
  wv: async (file, range, signal) => ({ ...range, between: await wavPackExtras(file, range, signal) }),
}
const everything: FindFrames = async (_file, range) => ({ ...range, between: [] })

/** ffmpeg takes so many bytes of a head for a frame of MP2. */
const LEAST_HEAD_BYTES = 4

async function isFrame(file: FileHandle, start: number, lengthAt: LengthAt): Promise<boolean> {
  const head = await readAt(file, start, HEAD_BYTES)
  return head.length >= LEAST_HEAD_BYTES && lengthAt(head, 0) > 0
}

/** The bytes before frames and behind them, if there are any. */
function around({ start, end }: FrameRange, frames: FrameRange): readonly [readonly Structure[], readonly Structure[]] {
  const lead = { path: BYTES_BEFORE, start, length: frames.start - start }
  const rest = { path: 'bytes behind the frames', start: frames.end, length: end - frames.end }
  return [lead.length > 0 ? [lead] : [], rest.length > 0 ? [rest] : []]
}

function survey(parsed: ElementaryFile, { media, tracks }: Wanted): Survey {
  const { before, frames, followsTags, behind } = parsed
  const codec = media.container === 'wv' ? 'wavpack' : media.container
  const [track] = tracks
  const donor = FRAME_DONORS[media.container]
  if (!track || tracks.length > 1 || !donor) return declines('it has several audio tracks')
  if (track.input.codec !== codec || track.encoding.codec !== codec) {
    return declines(`its audio is ${track.input.codec}, and becomes ${track.encoding.codec}`)
  }
  const isSignalled = codec === 'mp3' && followsTags
  return {
    kind: 'takes',
    census: [...before.entries, ...framesEntries(frames, codec), ...behind.entries],
    levels: [...before.levels, ...behind.levels],
    donors: [
      {
        muxer: donor.muxer,
        options: isSignalled ? [...donor.options, '-write_xing', '1'] : donor.options,
        skipSamples: lateSamples(media, track.input),
        sampleCount: null,
        priming: isSignalled ? 'signalled' : 'trimmed',
      },
    ],
  }
}

/** The frames, and what lies between them. */
function framesEntries({ start, end, between }: FoundFrames, codec: string): readonly CensusEntry[] {
  const others = between.map((other) =>
    lost(other.path, other.start, other.length, 'the new frames have no place for it'),
  )
  const frames = (at: number, length: number) => rewritten('frames', at, length, `the audio is re-encoded as ${codec}`)
  return [...withGaps(others, [start, end], frames)]
}
