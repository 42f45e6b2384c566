import { type FileHandle, open } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import { readAt } from '../../../core/read-at.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media-info.js'
import { BEGINS, MOST_SEGMENTS } from '../../probe/ends/ogg-page.js'
import { isOgg } from '../../probe/file-tags.js'
import { afterId3 } from '../../probe/id3-length.js'
import { bytePlan } from '../byte-plan.js'
import { type CensusEntry, kept, lost, rewritten, withGaps } from '../census.js'
import { NEW_LEVEL } from '../level/level-field.js'
import { oggPageOptions } from '../ogg-page-options.js'
import { OPUS_RATE } from '../splice/opus-samples.js'
import { staleReason } from '../stale-facts.js'
import { joinNeighbours } from '../structure/structure.js'
import { declines, type Survey, type Wanted, type WantedTrack, type Writer } from '../writer.js'
import { layOutOgg, type OggFile, type PageRun } from './lay-out-ogg.js'
import { commentList, type OggCodec, oggLevels, readHeaders } from './ogg-headers.js'
import { NO_GRANULE, nextPageStart, oggPageAt, oggPages } from './ogg-pages.js'
import { type DonorPage, type OggDonor, spliceableOgg } from './splice-ogg.js'
import { commentLevels, staleComments, unrenewable } from './vorbis-comments.js'

/** The head of a Skeleton stream, with its version. From the fourth on, it states places in the file. */
const SKELETON = 'fishead\0'
const PLACES_VERSION = 4
const LATE_SEC = 0.1
/** How late Speex is, by sample rate: its encoder looks ahead, and its decoder needs a quarter of a frame. */
const SPEEX_LATE_SAMPLES: Readonly<Record<number, number>> = { 8000: 40 + 40, 16000: 143 + 80, 32000: 349 + 160 }
/** Sound begins with the film if their times differ by less. */
const SAME_START_SEC = 0.001

/**
 * Writes Vorbis, Opus, FLAC and Speex in Ogg: new audio and set-up, with the input's own comments and pictures. The pages
 * of all other streams stay as they are.
 */
export const oggFrames: Writer<OggFile, OggDonor> = {
  name: 'frames',
  parse,
  survey,
  readDonor,
  splice: async ({ headers, runs }, { media }) => {
    if (runs.some(({ holds, start }) => holds === 'bytes' && start > 0)) return 'other bytes lie between its pages'
    if (media.startSec > LATE_SEC) return 'its clock does not begin at zero'
    if (headers.codec === 'flac') return 'its codec is lossless'
    if (headers.codec === 'speex') return 'a packet of Speex needs those before it'
    return spliceableOgg(media, headers.codec, headers)
  },
  layOut: (parsed, _wanted, [donor]) => bytePlan(donor ? layOutOgg(parsed, donor) : []),
}

async function parse(media: MediaInfo, signal?: AbortSignal): Promise<OggFile | string | null> {
  const [audio, ...others] = audioStreams(media)
  if (!isOgg(media.container) || !isOggCodec(audio?.codec) || others.length > 0) return null
  await using file = await open(media.path, 'r')
  const first = await afterId3(file, media.sizeBytes)
  // Without an extension, as a part file has none, ffmpeg does not find pages behind such bytes.
  if (!(await oggPageAt(file, first))) return 'other bytes lie before its first page'
  const headers = await readHeaders(file, audio.codec, first)
  if (!headers) return null
  const runs: PageRun[] = []
  let hasBegun = false
  let placesVersion = 0
  let cut: OggFile['cut'] = null
  let at = 0
  while (at < media.sizeBytes) {
    throwIfAborted(signal)
    const page = await oggPageAt(file, at)
    if (!page) {
      const next = await nextPageStart(file, at, signal)
      if (next === null) break
      runs.push({ start: at, length: next - at, holds: 'bytes', granule: NO_GRANULE })
      at = next
      continue
    }
    // Streams one after another are not supported.
    const begins = (page.flags & BEGINS) !== 0
    if (begins && hasBegun) return null
    hasBegun ||= !begins
    const head = begins ? await readAt(file, at + page.headLength, SKELETON.length + 2) : null
    if (head?.toString('latin1', 0, SKELETON.length) === SKELETON) placesVersion = head.readUInt16LE(SKELETON.length)
    const length = Math.min(page.end, media.sizeBytes) - at
    const isSound = page.serial === headers.serial
    if (isSound && page.end > media.sizeBytes) cut = { start: at, length }
    const holds = isSound ? 'sound' : 'streams'
    const last = runs.at(-1)
    if (!isSound && last?.holds === holds) runs[runs.length - 1] = { ...last, length: last.length + length }
    else runs.push({ start: at, length, holds, granule: page.granule })
    at += length
  }
  const rest = { start: at, length: media.sizeBytes - at }
  return { headers, runs, statesPlaces: placesVersion >= PLACES_VERSION, rest, cut }
}

function isOggCodec(codec: string | null | undefined): codec is OggCodec {
  return codec === 'vorbis' || codec === 'opus' || codec === 'flac' || codec === 'speex'
}

function survey(parsed: OggFile, { media, tracks: [track] }: Wanted): Survey {
  const { codec } = parsed.headers
  if (!track || track.encoding.codec !== codec) return declines(`its audio does not stay ${codec}`)
  if (codec === 'speex' && SPEEX_LATE_SAMPLES[track.input.sampleRate] === undefined) {
    return declines(`no encoder writes Speex of ${track.input.sampleRate} Hz`)
  }
  if (media.startSec < -LATE_SEC) return declines('its clock begins before zero')
  // The granules of late Speex would place the new sound 10 ms too early.
  if (codec === 'speex' && media.startSec > LATE_SEC) return declines('its clock does not begin at zero')
  if (Math.abs((track.input.startSec ?? 0) - media.startSec) > SAME_START_SEC && isFilm(parsed))
    return declines('its sound does not begin with the film')
  if (parsed.statesPlaces) return declines('its Skeleton states places in the file')
  const muxer = codec === 'opus' ? 'opus' : 'ogg'
  const options = codec === 'vorbis' ? oggPageOptions(media) : []
  const skipSamples = codec === 'speex' ? (SPEEX_LATE_SAMPLES[track.input.sampleRate] ?? 0) : 0
  const donor = { muxer, options, skipSamples, sampleCount: statedSamples(parsed, lateOf(codec, track.input)) }
  const hasLevels = commentLevels(commentList(parsed.headers), 0).length > 0
  const levels = hasLevels ? (part: FileHandle) => oggLevels(part, codec) : []
  return { kind: 'takes', census: censusOf(parsed), levels, donors: [donor] }
}

/** The samples of Vorbis that lies in one page or begins late, of which ffmpeg decodes too many; otherwise null. */
function statedSamples({ headers, runs }: OggFile, late: number): number | null {
  const pages = runs.filter(({ holds, start }) => holds === 'sound' && start >= headers.end)
  const end = Number(pages.findLast(({ granule }) => granule !== NO_GRANULE)?.granule ?? 0n)
  return headers.codec === 'vorbis' && (pages.length === 1 || late > 0) && end > late ? end - late : null
}

/** Samples on the clock of its pages by which a sound begins late, as one that was recorded from a radio; 0 if by few. */
function lateOf(codec: OggCodec, { startSec, sampleRate }: AudioStreamInfo): number {
  const lateSec = startSec ?? 0
  return lateSec > LATE_SEC ? Math.round(lateSec * (codec === 'opus' ? OPUS_RATE : sampleRate)) : 0
}

function isFilm({ runs }: OggFile): boolean {
  return runs.some(({ holds }) => holds === 'streams')
}

function censusOf(parsed: OggFile): readonly CensusEntry[] {
  const { headers, runs, rest, cut } = parsed
  const { codec, end } = headers
  const list = commentList(headers)
  const stale = staleComments(list)
  const gone = new Set(unrenewable(list).map(({ start }) => start))
  const why = `the comments that stay are the same${codec === 'vorbis' ? `; their pages hold the new ${codec} set-up too` : ''}`
  const entryOf = ({ start, length, holds }: PageRun) => {
    if (holds === 'bytes') return otherBytes(start, length)
    if (holds === 'streams') return kept('other streams', start, Math.min(length, end - start))
    if (start === headers.pages[0]?.start) return rewritten('id header', start, length, 'it describes the new sound')
    const path = codec === 'vorbis' ? 'comment and set-up' : 'comment'
    return codec === 'vorbis' || stale.length > 0 ? rewritten(path, start, length, why) : kept(path, start, length)
  }
  const sound = `the audio is re-encoded as ${codec}`
  const soundOf = (start: number, length: number) =>
    isFilm(parsed)
      ? rewritten('pages', start, length, `${sound}; the pages of the other streams are the same`)
      : rewritten('sound', start, length, sound)
  const between = runs.filter(({ holds, start }) => holds === 'bytes' && start >= end)
  return [
    ...joinNeighbours(runs.filter(({ start }) => start < end).map(entryOf)),
    // A comment may lie in several pages, so its bytes count as theirs.
    ...stale.map(({ name, start }) =>
      gone.has(start)
        ? lost(`comment:${name}`, end, 0, staleReason(name) ?? '')
        : rewritten(`comment:${name}`, end, 0, NEW_LEVEL),
    ),
    ...withGaps(
      between.map(({ start, length }) => otherBytes(start, length)),
      [end, cut?.start ?? rest.start],
      soundOf,
    ),
    ...(cut ? [lost('truncated page', cut.start, cut.length, 'the file ends within it, so players skip it')] : []),
    ...(rest.length > 0 ? [kept('bytes behind the pages', rest.start, rest.length)] : []),
  ]
}

function otherBytes(start: number, length: number): CensusEntry {
  return kept(start === 0 ? 'ID3v2' : 'bytes between the pages', start, length)
}

async function readDonor(
  path: string,
  { input }: Pick<WantedTrack, 'input'>,
  _signal: unknown,
  { headers }: OggFile,
): Promise<OggDonor> {
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  const made = await readHeaders(file, headers.codec)
  const pages: DonorPage[] = []
  for await (const page of oggPages(file, made?.end ?? size)) {
    pages.push({ ...page, lacing: withoutEmptyEnd(page.lacing), start: page.start + page.headLength })
  }
  const [id, ...others] = made?.packets ?? []
  const late = BigInt(lateOf(headers.codec, input))
  const isCounted = id !== undefined && headers.codec === 'flac'
  return {
    headers: isCounted ? [withCount(id, pages), ...others] : (made?.packets ?? []),
    pages: withoutSilentPage(pages).map((page) => ({
      ...page,
      granule: page.granule === NO_GRANULE ? NO_GRANULE : page.granule + late,
    })),
  }
}

/** Place of the number of samples in the id header of FLAC: the last 4 bits of this byte, and the next 4 bytes. */
const FLAC_SAMPLES_AT = 30

/** ffmpeg writes the id header of FLAC before it knows the number of samples. Some players state no length without it. */
function withCount(id: Buffer, pages: readonly DonorPage[]): Buffer {
  const samples = pages.findLast(({ granule }) => granule !== NO_GRANULE)?.granule ?? 0n
  if (id.length < FLAC_SAMPLES_AT + 5) return id
  const counted = Buffer.from(id)
  counted.writeUInt8((counted.readUInt8(FLAC_SAMPLES_AT) & 0xf0) | Number((samples >> 32n) & 15n), FLAC_SAMPLES_AT)
  counted.writeUInt32BE(Number(samples & 0xffff_ffffn), FLAC_SAMPLES_AT + 1)
  return counted
}

/**
 * Joins a first page whose packet holds no sound, as the first of Vorbis, with the next one. Other readers warn of a page of
 * sound that ends at sample 0.
 */
function withoutSilentPage([first, second, ...others]: readonly DonorPage[]): readonly DonorPage[] {
  if (!first || !second) return first ? [first] : []
  const lacing = Buffer.concat([first.lacing, second.lacing])
  if (first.granule !== 0n || lacing.length > MOST_SEGMENTS) return [first, second, ...others]
  return [{ ...second, lacing, before: first }, ...others]
}

/** ffmpeg ends FLAC with a packet of no bytes, of which other readers warn. */
function withoutEmptyEnd(lacing: Buffer): Buffer {
  const isEmpty = lacing.at(-1) === 0 && lacing.at(-2) !== 255
  return isEmpty ? lacing.subarray(0, -1) : lacing
}
