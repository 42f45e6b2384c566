import { dirname } from 'node:path'
import type { FfmpegCommand, FfmpegInput } from '../../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../../ffmpeg/input-safety.js'
import { isFilm } from '../../media-info.js'
import { FILE_CLOCK_INPUT_OPTIONS } from '../../pcm/file-clock.js'
import type { PcmFormat } from '../../pcm/pcm.js'
import { rawInputOptions } from '../../pcm/raw-input.js'
import { encodingOptions } from '../encode/audio-encoding.js'
import { type EncodedVoice, encodedInputOptions, encodedStreamOptions } from '../encode/encoded-voice.js'
import { encoderLayoutFilters } from '../encode/encoder-layout.js'
import { levelFilters } from '../encode/encoder-level.js'
import { oggPageOptions } from '../ogg-page-options.js'
import { attachedStreams, attachedTags, attachOptions } from './attached-files.js'
import { chapterOptions } from './chapter-options.js'
import { isCopiedOpus } from './copied-opus.js'
import { latePictureSec } from './first-picture.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'
import { fileMetadata, mp4FamilyOptions, streamMetadata } from './mux-tags.js'
import { timesOutput } from './packet-times.js'
import { isNewStream, type NewStream, type WrittenStream } from './plan-streams.js'
import { hashOutput } from './stream-hash.js'
import { transportIdentity } from './transport-identity.js'

/** A new voice as an input of the command. */
export interface MuxInput {
  readonly stream: NewStream
  /** Source of the samples: stdin (`pipe:0` in previews) or a temporary file. */
  readonly source: FfmpegInput['url']
  /** Null for raw PCM, which the mux encodes. */
  readonly encoded: EncodedVoice | null
  readonly format: PcmFormat
  /** Samples skipped at the beginning: the track starts late, or priming that cannot be signalled replaces them. */
  readonly skipSamples: number
  /** Samples by which its timestamps are moved later, to correct an error of the muxer. */
  readonly delaySamples: number
}

export interface MuxSetting {
  readonly voices: readonly MuxInput[]
  readonly partPath: string
  /** Temporary folder of covers that are attached as files; the part file's folder by default. */
  readonly workFolder?: string | undefined
  /** True if the index of the input precedes its data. */
  readonly fastStart: boolean
  /** Seconds of the input to read; all by default. */
  readonly headSec?: number | undefined
  /** Milliseconds by which copied Opus packets are moved later, to correct the same error of the muxer. */
  readonly copiedOpusDelayMs?: number | undefined
}

/** Streams of a plan that get a new voice, in output order. */
export function newStreams(plan: MuxPlan): readonly NewStream[] {
  return plan.streams.filter(isNewStream)
}

/** Streams that are written, in output order. */
export function writtenStreams(plan: MuxPlan): readonly WrittenStream[] {
  return plan.streams.filter((stream) => stream.fate !== 'dropped')
}

/** Builds one command that copies all other streams, encodes the new voices and hashes the copied packets. */
export function muxCommand(
  plan: MuxPlan,
  { voices, partPath, fastStart, headSec, copiedOpusDelayMs = 0, workFolder = dirname(partPath) }: MuxSetting,
): FfmpegCommand {
  const { media } = plan
  const streams = writtenStreams(plan)
  const asFiles = attachedStreams(plan)
  const mapped = streams.filter((stream) => !asFiles.includes(stream))
  const indexOf = ({ input }: PlannedStream) => input.index
  const film = {
    url: fileUrl(media.path),
    options: [
      ...[...safeInputOptions(media), ...FILE_CLOCK_INPUT_OPTIONS, ...timingOptions(plan)],
      ...(headSec === undefined ? [] : ['-t', String(headSec)]),
    ],
  }
  const isLater = (stream: PlannedStream) => copiedOpusDelayMs > 0 && isCopiedOpus(plan, stream)
  // A second reading. Filters of packets count in other ticks until the header is written.
  const later = { ...film, options: [...film.options, '-itsoffset', String(copiedOpusDelayMs / 1000)] }
  return {
    inputs: [
      film,
      ...voices.map((voice) => ({ url: voice.source, options: voiceInputOptions(plan, voice) })),
      ...(streams.some(isLater) ? [later] : []),
    ],
    filterComplex: voices.flatMap((voice, place) => voiceGraph(plan, voice, place + 1)).join(';'),
    outputs: [
      {
        url: fileUrl(partPath),
        options: [
          ...mapped.flatMap((stream) => [
            '-map',
            isLater(stream) ? `${voices.length + 1}:${stream.input.index}` : mapOf(stream, voices),
          ]),
          ...attachOptions(plan, { folder: workFolder, partPath }),
          // A recording may begin between two key frames. Keep all of it.
          ...['-c', 'copy', '-copyinkf'],
          // Allows experimental codecs (FLAC, Opus, TrueHD in MP4) and unofficial side data.
          ...['-strict', '-2'],
          ...streams.flatMap((stream) => codecOptions(stream, voices)),
          ...exactStartOptions(plan, voices),
          ...fileMetadata(plan),
          ...streams.flatMap((stream) => streamMetadata(plan, stream)),
          ...chapterOptions(plan),
          ...streams.flatMap((stream) => attachedTags(plan, stream)),
          ...mapped.flatMap(dispositionOptions),
          ...containerOptions(plan, fastStart),
        ],
      },
      ...hashOutput(plan, indexOf),
      ...timesOutput(plan, indexOf),
    ],
  }
}

/** Options of the output as a whole, after those of its streams. */
function containerOptions(plan: MuxPlan, fastStart: boolean): readonly string[] {
  return [
    ...mp4FamilyOptions(plan, fastStart),
    ...plan.profile.options,
    ...pageOptions(plan),
    ...clockOptions(plan),
    ...broadcastWaveOptions(plan),
    ...transportIdentity(plan),
    ...namelessOptions(plan),
    // Sparse subtitles must not make ffmpeg hold seconds of video in memory.
    ...['-max_interleave_delta', '2000000', '-max_muxing_queue_size', '9999'],
    ...['-f', plan.profile.muxer],
  ]
}

/** Muxers for which `+bitexact` also replaces identity and dates by zeros. */
const ZEROED_IF_NAMELESS: ReadonlySet<string> = new Set(['mxf', 'asf'])

/** Keeps ffmpeg's name out of the tags of the output. */
export function namelessOptions({ profile }: MuxPlan): readonly string[] {
  return ZEROED_IF_NAMELESS.has(profile.muxer) ? [] : ['-fflags', '+bitexact']
}

/**
 * MPEG streams begin at any clock time, which would delay the first picture in another container. An MP3 begins after the
 * priming of its encoder, which MP4 would take for another one.
 */
const MPEG_CLOCK: ReadonlySet<string> = new Set(['ts', 'm2ts', 'mpg', 'mp3'])
/** An Ogg of one page begins after its first packet, which MP4 would take for priming. */
const OGG_CLOCK: ReadonlySet<string> = new Set(['ogg', 'opus'])

/** Seconds by which the output's timestamps are later than the input's. */
export function clockMoveSec(plan: MuxPlan): number {
  const { media, container } = plan
  const own = [MPEG_CLOCK, OGG_CLOCK].find((family) => family.has(media.container))
  const isKept = own === undefined ? !beginsWithPriming(plan) : own.has(container) || MPEG_CLOCK.has(container)
  const zeroSec = isKept ? 0 : media.startSec
  return 0 - zeroSec - latePictureSec(plan)
}

/** True if the priming of an encoder would lie behind zero and be heard. Pictures and chapters must keep their times. */
function beginsWithPriming({ media, container, profile, streams }: MuxPlan): boolean {
  const hasPicture = streams.some(({ fate, input }) => fate !== 'dropped' && isFilm(input))
  const isMovable = !hasPicture && media.chapters.length === 0 && media.container !== container
  return isMovable && media.startSec > 0 && profile.priming === 'signalled'
}

/** Containers in which not every picture has a time for its display. Most others require one. */
const PARTLY_TIMED: ReadonlySet<string> = new Set(['mpg', 'avi'])

function timingOptions({ media, container }: MuxPlan): readonly string[] {
  return media.container !== container && PARTLY_TIMED.has(media.container) ? ['-fflags', '+genpts'] : []
}

function clockOptions(plan: MuxPlan): readonly string[] {
  const moveSec = clockMoveSec(plan)
  return moveSec === 0 ? [] : ['-output_ts_offset', moveSec.toFixed(6)]
}

function pageOptions(plan: MuxPlan): readonly string[] {
  const isVorbis = plan.profile.muxer === 'ogg' && newStreams(plan).some(({ encoding }) => encoding.codec === 'vorbis')
  return isVorbis ? oggPageOptions(plan.media) : []
}

/** Writes the bext chunk of sound in another container from its tags. From a WAV the chunk itself is copied. */
function broadcastWaveOptions({ container, media }: MuxPlan): readonly string[] {
  const names = ['originator', 'originator_reference', 'origination_date', 'time_reference', 'coding_history', 'umid']
  const isBroadcast = container === 'wav' && media.container !== 'wav' && names.some((name) => name in media.tags)
  return isBroadcast ? ['-write_bext', '1'] : []
}

/** Edit lists count in the movie's time scale (ms by default). A voice that starts late needs a scale in samples. */
function exactStartOptions(plan: MuxPlan, voices: readonly MuxInput[]): readonly string[] {
  const { priming, data } = plan.profile
  const late = clockMoveSec(plan) === 0 ? voices.find(({ skipSamples }) => skipSamples > 0) : voices[0]
  return late && priming === 'signalled' && data !== 'none' ? ['-movie_timescale', String(late.format.sampleRate)] : []
}

function voiceInputOptions(plan: MuxPlan, voice: MuxInput): readonly string[] {
  const { encoded, format, skipSamples } = voice
  if (!encoded) return rawInputOptions(format)
  return encodedInputOptions(encoded, zeroSample(plan, voice) + skipSamples, format.sampleRate)
}

/** The voice's zero on the file's clock, in samples. */
function zeroSample({ media }: MuxPlan, { format, delaySamples }: MuxInput): number {
  return Math.round(media.startSec * format.sampleRate) + delaySamples
}

function voiceGraph(plan: MuxPlan, voice: MuxInput, inputIndex: number): readonly string[] {
  const { format, skipSamples, stream, encoded } = voice
  if (encoded) return []
  const graph = `[${inputIndex}:a]${[
    ...encoderLayoutFilters(format, stream.encoding),
    `atrim=start_sample=${skipSamples}`,
    `asetpts=PTS+(${zeroSample(plan, voice)})`,
    ...levelFilters(stream.encoding),
  ].join(',')}[voice${stream.outputIndex}]`
  return [graph]
}

function mapOf(stream: PlannedStream, voices: readonly MuxInput[]): string {
  const place = voices.findIndex((candidate) => candidate.stream === stream)
  const voice = voices[place]
  if (!voice) return `0:${stream.input.index}`
  return voice.encoded ? `${place + 1}:a` : `[voice${voice.stream.outputIndex}]`
}

function codecOptions(stream: PlannedStream, voices: readonly MuxInput[]): readonly string[] {
  if (stream.fate === 'converted') return [`-c:${stream.outputIndex}`, stream.codec]
  if (!isNewStream(stream)) return []
  const specifier = String(stream.outputIndex)
  const voice = voices.find((candidate) => candidate.stream === stream)
  return voice?.encoded ? encodedStreamOptions(voice.encoded, specifier) : encodingOptions(stream.encoding, specifier)
}

/** Keeps each disposition; ffmpeg would otherwise choose defaults itself. */
function dispositionOptions(stream: PlannedStream): readonly string[] {
  if (stream.fate === 'dropped') return []
  return [`-disposition:${stream.outputIndex}`, stream.dispositions.join('+') || '0']
}
