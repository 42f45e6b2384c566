import { UsageError } from '../../core/errors.js'
import type { FfmpegCommand } from '../ffmpeg/ffmpeg.js'
import { fileUrl } from '../ffmpeg/input-safety.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media-info.js'
import { channelFilters, fileClockFilters, pickedFormat, rangeFilters } from '../pcm/clock-filters.js'
import { type ClockRange, decodedInput, fileClock, rangeFrom } from '../pcm/file-clock.js'
import { type PcmFormat, pcmFormatFor, type SampleType } from '../pcm/pcm.js'
import { rawOutputOptions } from '../pcm/raw-input.js'
import type { ChannelPick, CutRequest, VoiceCut } from '../voice-cut.js'
import { type CutEncoding, cutEncoding } from './cut-encoding.js'

/** One voice file to write. */
export interface PlannedCut extends Pick<VoiceCut, 'request' | 'path' | 'channels' | 'channelLayout'> {
  readonly stream: AudioStreamInfo
  readonly encoding: CutEncoding
  /** Path of its samples, raw, for all who compare or measure it later. */
  readonly pcmPath: string
}

/** Leaves out the source's tags, and the encoder's name and date, so that the same voice gives the same bytes. */
const NEUTRAL = ['-map_metadata', '-1', '-map_chapters', '-1', '-fflags', '+bitexact', '-flags:a', '+bitexact']

/** Plans each requested cut. @throws UsageError ERR_NO_SUCH_TRACK, ERR_NO_SUCH_CHANNEL, ERR_EMPTY_RANGE */
export function planCuts(media: MediaInfo, requests: readonly CutRequest[]): readonly PlannedCut[] {
  return requests.map((request) => {
    const stream = audioStreams(media)[request.audioIndex]
    if (!stream) throw refused('ERR_NO_SUCH_TRACK', `${media.path} has no audio track ${request.audioIndex}`, media)
    const { startSample, endSample } = request.range
    if (startSample < 0 || (endSample !== null && endSample <= startSample)) {
      throw refused('ERR_EMPTY_RANGE', `The part from sample ${startSample} to ${endSample} is empty`, media)
    }
    const layout = pickedLayout(request.channels, stream, media)
    const encoding = cutEncoding(stream, layout.channels)
    const { targetWithoutExtension: target } = request
    return { request, stream, encoding, path: `${target}.${encoding.format}`, pcmPath: `${target}.pcm`, ...layout }
  })
}

/** Cuts of one command. Windows limits its length to 32,767 characters, and other systems the files that it may open. */
const MOST_AT_ONCE = 64

/** Groups cuts that one command reads: from the start of the file, or those of a track from the same sample. */
export function cutReadings(cuts: readonly PlannedCut[]): readonly (readonly PlannedCut[])[] {
  const byStart = new Map<string, PlannedCut[]>()
  for (const cut of cuts) {
    const { audioIndex, readFromSample: from = 0 } = cut.request
    const start = from === 0 ? '0' : `${audioIndex} ${from}`
    const same = byStart.get(start)
    if (same) same.push(cut)
    else byStart.set(start, [cut])
  }
  return [...byStart.values()].flatMap((same) => inBatches(same))
}

/** Divides cuts into those that are written or read at once. */
export function inBatches(cuts: readonly PlannedCut[]): readonly (readonly PlannedCut[])[] {
  const count = Math.ceil(cuts.length / MOST_AT_ONCE)
  return Array.from({ length: count }, (_, place) => cuts.slice(place * MOST_AT_ONCE, (place + 1) * MOST_AT_ONCE))
}

/**
 * One command that reads the input once and writes every cut, as a voice file and as raw samples. The cuts are those of
 * one of {@link cutReadings}.
 */
export function cutCommand(media: MediaInfo, cuts: readonly PlannedCut[]): FfmpegCommand {
  const splits = cuts.map((_, place) => `[cut${place}]asplit=2[voice${place}][raw${place}]`)
  const [first] = cuts
  const clock = first && fileClock(media, first.stream, first.request.readFromSample)
  const graphs = [...new Set(cuts.map(({ stream }) => stream))].flatMap((stream) => trackGraph(media, stream, cuts))
  return {
    inputs: [decodedInput(media, clock)],
    filterComplex: [...graphs, ...splits].join(';'),
    outputs: cuts.flatMap((cut, place) => [
      { url: fileUrl(cut.path), options: ['-map', `[voice${place}]`, ...NEUTRAL, ...cut.encoding.options] },
      { url: fileUrl(cut.pcmPath), options: ['-map', `[raw${place}]`, ...rawOutputOptions(decodedFormat(cut).sample)] },
    ]),
  }
}

/** The format of a cut's samples on the way into its file. */
export function decodedFormat({ stream, channels, channelLayout, encoding }: PlannedCut): PcmFormat {
  return { sampleRate: stream.sampleRate, channels, channelLayout, sample: HEARD[encoding.sampleFormat] }
}

const HEARD = { s16: 's16', s32: 's32', flt: 'f32', dbl: 'f64' } as const satisfies Record<string, SampleType>

/** Decodes a track once and splits it into all of its cuts. They see only what lies between the first and the last. */
function trackGraph(media: MediaInfo, stream: AudioStreamInfo, cuts: readonly PlannedCut[]): readonly string[] {
  const own = [...cuts.entries()].filter(([, cut]) => cut.stream === stream)
  const clock = fileClock(media, stream, own[0]?.[1].request.readFromSample)
  const span = spanOf(own.map(([, { request }]) => request.range))
  const filters = fileClockFilters(clock, { kind: 'all' }, rangeFrom(span, clock.fromSample))
  const branches = own.map(([place]) => `[branch${place}]`)
  return [
    `[0:a:${stream.audioIndex}]${[...filters, `asplit=${own.length}`].join(',')}${branches.join('')}`,
    ...own.map(([place, cut]) => `[branch${place}]${cutFilters(cut, span).join(',')}[cut${place}]`),
  ]
}

/** The least part that holds all ranges. */
function spanOf(ranges: readonly ClockRange[]): ClockRange {
  const ends = ranges.flatMap(({ endSample }) => endSample ?? [])
  return {
    startSample: Math.min(...ranges.map(({ startSample }) => startSample)),
    endSample: ends.length === ranges.length ? Math.max(...ends) : null,
  }
}

function cutFilters({ request, encoding }: PlannedCut, span: ClockRange): readonly string[] {
  const { startSample, endSample } = rangeFrom(request.range, span.startSample)
  const reachesEnd = request.range.endSample === span.endSample
  return [
    ...rangeFilters({ startSample, endSample: reachesEnd ? null : endSample }),
    ...channelFilters(request.channels),
    `aformat=sample_fmts=${encoding.sampleFormat}`,
  ]
}

function pickedLayout(pick: ChannelPick, stream: AudioStreamInfo, media: MediaInfo) {
  if (pick.kind === 'one' && (pick.channel < 0 || pick.channel >= stream.channels)) {
    throw refused('ERR_NO_SUCH_CHANNEL', `Track ${stream.audioIndex} has no channel ${pick.channel}`, media)
  }
  const { channels, channelLayout } = pickedFormat(pcmFormatFor(stream), pick)
  return { channels, channelLayout }
}

function refused(code: `ERR_${string}`, what: string, media: MediaInfo): UsageError {
  return new UsageError(code, `${what}.`, { input: media.path })
}
