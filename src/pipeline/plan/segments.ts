import { z } from 'zod'
import { UsageError } from '../../core/errors.js'
import { formatTime, parseTime } from '../../core/time.js'
import type { ClockRange } from '../../media/index.js'
import type { MediaInfo } from '../../media/media-info.js'
import type { SampleRange } from '../../media/voice-cut.js'
import { countsTimecode, frameRateOf, isDropFrame, startTimecodeOf, timecodeFrames } from './timecode.js'

const fromTo = z.strictObject({
  startSec: z.number().min(0).meta({ description: 'Seconds from the start of the file.' }),
  endSec: z.number().min(0).nullish().meta({ description: 'Seconds from the start of the file; null for its end.' }),
})
const byChapter = z.strictObject({
  chapter: z.string().min(1).meta({ description: 'Title of a chapter of the file.' }),
})
const timecode = z.string().regex(/^\d{2}:\d{2}:\d{2}[:;]\d{2}$/, 'must be a timecode such as 01:00:10:05')
const byTimecode = z.strictObject({
  startTimecode: timecode.meta({ description: "On the file's own timecode; `;` before the frames is drop frame." }),
  endTimecode: timecode.meta({ description: 'The first frame after the part.' }),
})

/** A part of a file to regenerate: by time, by chapter title, or by timecode. */
export const segmentSchema = z.union([fromTo, byChapter, byTimecode], {
  error: 'must be {"startSec","endSec"}, {"chapter"} or {"startTimecode","endTimecode"}',
})
export type Segment = z.infer<typeof segmentSchema>
type ByTimecode = z.infer<typeof byTimecode>

/**
 * Reads a segment as typed: `START-END`, each in seconds or `[hh:]mm:ss[.mmm]`, either one optional (`90-`, `-10`), both
 * as timecodes `hh:mm:ss:ff`, or `chapter:NAME`.
 *
 * @throws {UsageError} `ERR_SEGMENT_SYNTAX`
 */
export function parseSegment(text: string): Segment {
  const chapter = /^chapter:(.+)$/s.exec(text)
  if (chapter) return { chapter: (chapter[1] as string).replace(/^(["'])(.*)\1$/s, '$2') }
  const match = /^([^-]*)-([^-]*)$/.exec(text.trim())
  const timecodes = byTimecode.safeParse({ startTimecode: match?.[1]?.trim(), endTimecode: match?.[2]?.trim() })
  if (timecodes.success) return timecodes.data
  const [start, end] = [match?.[1]?.trim() ?? '', match?.[2]?.trim() ?? '']
  const startSec = start === '' ? 0 : parseTime(start)
  const endSec = end === '' ? null : parseTime(end)
  if (!match || startSec === undefined || endSec === undefined || (start === '' && end === '')) {
    throw new UsageError('ERR_SEGMENT_SYNTAX', `The segment "${text}" cannot be read.`, {
      remedies: ['Write it as START-END, for example 12.5-60, 1:02-1:30.5, 90- or chapter:"Interview".'],
    })
  }
  return { startSec, endSec }
}

/**
 * Maps segments to a track: resolves and orders them, merges those that overlap or touch, and clamps them at the end of
 * the file.
 *
 * @param media times are checked against its duration and chapters
 * @param sampleRate of the track: positions are `round(sec × sampleRate)`
 * @returns disjoint, ascending ranges; a segment up to the file's end is open
 * @throws {UsageError} `ERR_SEGMENT_BACKWARDS`, `ERR_SEGMENT_OUTSIDE`, `ERR_SEGMENT_CHAPTER`
 */
export function planSegments(media: MediaInfo, segments: readonly Segment[], sampleRate: number): ClockRange[] {
  if (segments.length === 0) return [{ startSample: 0, endSample: null }]
  const ranges = segments
    .map((segment) => resolveSegment(media, 'startTimecode' in segment ? timesOf(media, segment, segments) : segment))
    .map(({ startSec, endSec }) => ({
      startSample: Math.round(startSec * sampleRate),
      endSample: endSec === null ? null : Math.round(endSec * sampleRate),
    }))
  return mergeRanges(ranges)
}

function resolveSegment(
  media: MediaInfo,
  segment: Exclude<Segment, ByTimecode>,
): { startSec: number; endSec: number | null } {
  if ('chapter' in segment) return chapterTimes(media, segment.chapter)
  const { startSec } = segment
  const endSec = segment.endSec ?? null
  const duration = media.durationSec
  const shown = `${formatTime(startSec)}-${endSec === null ? '' : formatTime(endSec)}`
  if (endSec !== null && endSec <= startSec) {
    throw new UsageError('ERR_SEGMENT_BACKWARDS', `The segment ${shown} ends before it begins.`, {
      input: media.path,
      remedies: ['Write the earlier time first.'],
    })
  }
  if (duration !== null && startSec >= duration) {
    throw new UsageError(
      'ERR_SEGMENT_OUTSIDE',
      `The segment ${shown} begins after the end of ${media.path} (${formatTime(duration)}).`,
      { input: media.path, remedies: ['Count the times from the start of the file, not from its timecode.'] },
    )
  }
  return { startSec, endSec: duration !== null && endSec !== null && endSec >= duration ? null : endSec }
}

/**
 * Timecodes are relative to the file's own first one. Programmes start at a whole hour: a file without a timecode
 * starts at the hour of the earliest part.
 */
function timesOf(media: MediaInfo, { startTimecode, endTimecode }: ByTimecode, all: readonly Segment[]) {
  const timecodes = all.flatMap((one) => ('startTimecode' in one ? [one.startTimecode, one.endTimecode] : []))
  const frameRate = rateOfTimecodes(media, timecodes)
  const own = startTimecodeOf(media)
  // Not all lists mark drop frame, and a file has one way to count.
  const drops = countsTimecode('00:00:00;00', frameRate) && isDropFrame(own ?? startTimecode)
  const secOf = (timecode: string) =>
    (timecodeFrames(`${timecode.slice(0, 8)}${drops ? ';' : ':'}${timecode.slice(9)}`, frameRate) ?? 0) / frameRate
  const originSec = secOf(own ?? wholeHour(media, timecodes, secOf))
  const startSec = secOf(startTimecode) - originSec
  if (startSec < 0 || startSec >= (media.durationSec ?? Number.POSITIVE_INFINITY)) {
    const where = startSec < 0 ? 'before' : 'after the end of'
    const origin = own ? `, which begins at ${own}` : ''
    throw new UsageError('ERR_SEGMENT_OUTSIDE', `The segment at ${startTimecode} is ${where} ${media.path}${origin}.`, {
      input: media.path,
      remedies: ['Use the list of the timeline that this file was exported from.'],
    })
  }
  return { startSec, endSec: Math.max(0, secOf(endTimecode) - originSec) }
}

/** The frame rate that counts timecodes on a file. */
function rateOfTimecodes(media: MediaInfo, timecodes: readonly string[]): number {
  const rate = frameRateOf(media)
  const own = startTimecodeOf(media)
  const isOther = (timecode: string) => own !== undefined && isDropFrame(timecode) && !isDropFrame(own)
  const misfit = rate && timecodes.find((timecode) => !countsTimecode(timecode, rate) || isOther(timecode))
  if (rate && !misfit) return rate
  const why = rate
    ? `has ${Math.round(rate * 1000) / 1000} frames a second${own ? ` from ${own}` : ''}, and ${misfit} is not one of its timecodes`
    : 'has no picture, and timecodes need a frame rate'
  throw new UsageError('ERR_SEGMENT_TIMECODE', `${media.path} ${why}.`, { input: media.path, remedies: [BY_TIME] })
}

/** The timecode at which a file begins that does not state it. */
function wholeHour(media: MediaInfo, timecodes: readonly string[], secOf: (timecode: string) => number): string {
  const hour = `${[...timecodes].sort()[0]?.slice(0, 2)}:00:00:00`
  if (secOf(hour) === 0 || Math.max(...timecodes.map(secOf)) > (media.durationSec ?? 0)) return hour
  throw new UsageError(
    'ERR_SEGMENT_TIMECODE',
    `${media.path} has no timecode, and the parts fit whether it begins at 00:00:00:00 or at ${hour}.`,
    { input: media.path, remedies: ['Export it with its timecode.', BY_TIME] },
  )
}

const BY_TIME = 'Name the parts by time, for example --segment 1:02-1:30.'

function chapterTimes(media: MediaInfo, name: string): { startSec: number; endSec: number } {
  const wanted = name.normalize('NFC').toLowerCase()
  const found = media.chapters.find((chapter) => chapter.title?.normalize('NFC').toLowerCase() === wanted)
  if (!found) {
    const titles = media.chapters.map((chapter) => `"${chapter.title ?? ''}"`).join(', ')
    throw new UsageError('ERR_SEGMENT_CHAPTER', `${media.path} has no chapter "${name}".`, {
      input: media.path,
      remedies: [titles ? `Name one of its chapters: ${titles}.` : 'It has no chapters: name the segment by time.'],
    })
  }
  return { startSec: found.startSec, endSec: found.endSec }
}

/** Orders ranges and joins those that overlap, touch, or lie at most `gapSamples` apart. @returns disjoint, ascending */
export function mergeRanges<R extends ClockRange>(ranges: readonly R[], gapSamples = 0): R[] {
  const merged: R[] = []
  for (const range of [...ranges].sort((a, b) => a.startSample - b.startSample)) {
    const last = merged.at(-1)
    if (!last || (last.endSample !== null && range.startSample > last.endSample + gapSamples)) {
      merged.push(range)
    } else if (last.endSample !== null && (range.endSample === null || range.endSample > last.endSample)) {
      merged[merged.length - 1] = { ...last, endSample: range.endSample }
    }
  }
  return merged
}

/** Extends a range by `handleSamples` on either side, as far as the file reaches. */
export function withHandles(range: ClockRange, handleSamples: number): ClockRange {
  return {
    startSample: Math.max(0, range.startSample - handleSamples),
    endSample: range.endSample === null ? null : range.endSample + handleSamples,
  }
}

interface Part {
  readonly ranges: readonly ClockRange[]
  /** All of them with handles. */
  readonly cut: ClockRange
}

/**
 * Joins parts whose handles meet, so that the sound between them is sent once.
 *
 * @param parts in order
 * @param sentBefore cuts that were paid for: parts that make up one of them stay as they were sent, and only the others
 * are joined
 */
export function joinMeeting(parts: readonly Part[], sentBefore: readonly ClockRange[]): readonly Part[] {
  let left = parts
  const kept: Part[] = []
  for (const cut of [...sentBefore].sort((one, other) => lengthOf(other) - lengthOf(one))) {
    const inCut = left.filter((part) => isWithin(part.cut, cut) && endOf(part.cut) <= endOf(cut))
    const [whole, ...others] = joined(inCut)
    if (!whole || others.length > 0 || whole.cut.startSample !== cut.startSample) continue
    if (whole.cut.endSample !== cut.endSample) continue
    const rest = left.filter((part) => !inCut.includes(part))
    // The handles of its neighbours may need as much as is saved.
    if (sentSamples(rest) >= sentSamples(left)) continue
    kept.push(whole)
    left = rest
  }
  return [...kept, ...joined(left)].sort((one, other) => one.cut.startSample - other.cut.startSample)
}

function joined(parts: readonly Part[]): readonly Part[] {
  return mergeRanges(parts.map(({ cut }) => cut)).map((cut) => ({
    cut,
    ranges: parts.filter((part) => isWithin(part.cut, cut)).flatMap(({ ranges }) => ranges),
  }))
}

function sentSamples(parts: readonly Part[]): number {
  return joined(parts).reduce((sum, { cut }) => sum + lengthOf(cut), 0)
}

function lengthOf(range: ClockRange): number {
  return endOf(range) - range.startSample
}

/** An open end is later than any other, and can be subtracted. */
function endOf({ endSample }: ClockRange): number {
  return endSample ?? Number.MAX_SAFE_INTEGER
}

function isWithin({ startSample }: ClockRange, whole: ClockRange): boolean {
  return startSample >= whole.startSample && (whole.endSample === null || startSample < whole.endSample)
}

/** The parts of ranges that lie in a cut. */
export function rangesInCut(ranges: readonly ClockRange[], cut: SampleRange): readonly SampleRange[] {
  return ranges
    .map(({ startSample, endSample }) => ({
      startSample: Math.max(startSample, cut.startSample),
      endSample: Math.min(endSample ?? cut.endSample, cut.endSample),
    }))
    .filter(({ startSample, endSample }) => endSample > startSample)
}
