import { dirname } from 'node:path'
import { attachedStreams, attachedTags, attachOptions } from './attached-files.js'
import { chapterOptions } from './chapter-options.js'
import { type EncodedVoice, encodedInputOptions, encodedStreamOptions } from './encoded-voice.js'
import type { FfmpegCommand, FfmpegInput } from './ffmpeg.js'
import { FILE_CLOCK_INPUT_OPTIONS } from './file-clock.js'
import { fileUrl, safeInputOptions } from './input-safety.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'
import { mp4FamilyOptions, streamMetadata } from './mux-tags.js'
import { timesOutput } from './packet-times.js'
import type { PcmFormat } from './pcm.js'
import { layoutFilters, rawInputOptions } from './raw-input.js'
import { hashOutput } from './stream-hash.js'

export type ReplacedStream = PlannedStream & { readonly fate: 'replaced' }

/** A new voice as the command takes it in. */
export interface VoiceInput {
  readonly stream: ReplacedStream
  /** Where it comes from: stdin (`pipe:0` in previews) or a temp file. */
  readonly source: FfmpegInput['url']
  /** Null: as raw PCM, which the mux encodes. */
  readonly encoded: EncodedVoice | null
  readonly format: PcmFormat
  /** Samples left out at the beginning: the track starts late, or a lead-in that cannot be signalled takes their place. */
  readonly skipSamples: number
  /** By how much its timestamps are moved later, against a muxer's own error. */
  readonly delaySamples: number
}

export interface MuxSetting {
  readonly voices: readonly VoiceInput[]
  readonly partPath: string
  /** Where covers lie that are put in as files; the part file's folder by default. */
  readonly workFolder?: string | undefined
  /** The index of the input stood before its data. */
  readonly fastStart: boolean
  /** By how much copied Opus packets are moved later, against the same error of the muxer. */
  readonly copiedOpusDelayMs?: number | undefined
}

/** The streams of a plan that get a new voice, in output order. */
export function replacedStreams(plan: MuxPlan): readonly ReplacedStream[] {
  return plan.streams.filter((stream) => stream.fate === 'replaced')
}

/** The streams that are written, in output order. */
export function writtenStreams(plan: MuxPlan) {
  return plan.streams.filter((stream) => stream.fate !== 'dropped')
}

/** One command: every other stream copied, the new voices encoded, and the copied packets hashed in the same reading. */
export function muxCommand(
  plan: MuxPlan,
  { voices, partPath, fastStart, copiedOpusDelayMs = 0, workFolder = dirname(partPath) }: MuxSetting,
): FfmpegCommand {
  const { media, profile } = plan
  const streams = writtenStreams(plan)
  const asFiles = attachedStreams(plan)
  const indexOf = ({ input }: PlannedStream) => input.index
  return {
    inputs: [
      { url: fileUrl(media.path), options: [...safeInputOptions(media), ...FILE_CLOCK_INPUT_OPTIONS] },
      ...voices.map((voice) => ({ url: voice.source, options: voiceInputOptions(plan, voice) })),
    ],
    filterComplex: voices.flatMap((voice, place) => voiceGraph(plan, voice, place + 1)).join(';'),
    outputs: [
      {
        url: fileUrl(partPath),
        options: [
          ...streams.filter((stream) => !asFiles.includes(stream)).flatMap((stream) => ['-map', mapOf(stream, voices)]),
          ...attachOptions(plan, { folder: workFolder, partPath }),
          // A recording may begin between two key frames: all of it is kept.
          ...['-c', 'copy', '-copyinkf'],
          // Codecs that muxers call experimental (FLAC, Opus, TrueHD in MP4) and side data they call unofficial.
          '-strict',
          '-2',
          ...streams.flatMap((stream) => codecOptions(stream, voices)),
          ...copiedOpusOptions(plan, copiedOpusDelayMs),
          ...exactStartOptions(plan, voices),
          '-map_metadata',
          '0',
          ...streams.flatMap((stream) => streamMetadata(plan, stream)),
          ...chapterOptions(plan),
          ...streams.flatMap((stream) => attachedTags(plan, stream)),
          ...streams.filter((stream) => !asFiles.includes(stream)).flatMap(dispositionOptions),
          ...mp4FamilyOptions(plan, fastStart),
          ...profile.options,
          ...clockOptions(plan),
          ...broadcastWaveOptions(plan),
          // No name of the program where the original has none.
          '-fflags',
          '+bitexact',
          // Sparse subtitles may not make it hold back seconds of a film in memory.
          '-max_interleave_delta',
          '2000000',
          '-max_muxing_queue_size',
          '9999',
          '-f',
          profile.muxer,
        ],
      },
      ...hashOutput(plan, indexOf),
      ...timesOutput(plan, indexOf),
    ],
  }
}

/** MPEG streams begin at any time of day; told to another container, that would be a wait before the first picture. */
const MPEG_CLOCK: ReadonlySet<string> = new Set(['ts', 'm2ts', 'mpg'])

/** By how much the output's timestamps are later than the input's. */
export function clockMoveSec({ media, container }: MuxPlan): number {
  return MPEG_CLOCK.has(media.container) && !MPEG_CLOCK.has(container) ? -media.startSec : 0
}

function clockOptions(plan: MuxPlan): readonly string[] {
  const moveSec = clockMoveSec(plan)
  return moveSec === 0 ? [] : ['-output_ts_offset', moveSec.toFixed(6)]
}

/** Where the input is a Broadcast WAV, its bext chunk is written again (its tags are what ffmpeg read from it). */
function broadcastWaveOptions({ container, media }: MuxPlan): readonly string[] {
  const names = ['originator', 'originator_reference', 'origination_date', 'time_reference', 'coding_history', 'umid']
  return container === 'wav' && names.some((name) => name in media.tags) ? ['-write_bext', '1'] : []
}

function copiedOpusOptions(plan: MuxPlan, delayMs: number): readonly string[] {
  if (delayMs === 0 || plan.profile.priming !== 'measured') return []
  const opus = plan.streams.filter(({ fate, input }) => fate === 'copied' && input.codec === 'opus')
  const move = `setts=pts=PTS+${delayMs}/1000/TB:dts=DTS+${delayMs}/1000/TB`
  return opus.flatMap(({ outputIndex }) => [`-bsf:${outputIndex}`, move])
}

/** Edit lists count in the movie's time scale, ms by default: what starts late is told in samples instead. */
function exactStartOptions(plan: MuxPlan, voices: readonly VoiceInput[]): readonly string[] {
  const { priming, data } = plan.profile
  const late = clockMoveSec(plan) === 0 ? voices.find(({ skipSamples }) => skipSamples > 0) : voices[0]
  return late && priming === 'signalled' && data !== 'none' ? ['-movie_timescale', String(late.format.sampleRate)] : []
}

function voiceInputOptions(plan: MuxPlan, voice: VoiceInput): readonly string[] {
  const { encoded, format, skipSamples } = voice
  if (!encoded) return rawInputOptions(format)
  return encodedInputOptions(encoded, zeroSample(plan, voice) + skipSamples, format.sampleRate)
}

/** To the sample, on the file's own clock. */
function zeroSample({ media }: MuxPlan, { format, delaySamples }: VoiceInput): number {
  return Math.round(media.startSec * format.sampleRate) + delaySamples
}

function voiceGraph(plan: MuxPlan, voice: VoiceInput, inputIndex: number): readonly string[] {
  const { format, skipSamples, stream, encoded } = voice
  if (encoded) return []
  const graph = `[${inputIndex}:a]${[
    ...layoutFilters(format),
    `atrim=start_sample=${skipSamples}`,
    `asetpts=PTS+(${zeroSample(plan, voice)})`,
  ].join(',')}[voice${stream.outputIndex}]`
  return [graph]
}

function mapOf(stream: PlannedStream, voices: readonly VoiceInput[]): string {
  const place = voices.findIndex((candidate) => candidate.stream === stream)
  const voice = voices[place]
  if (!voice) return `0:${stream.input.index}`
  return voice.encoded ? `${place + 1}:a` : `[voice${voice.stream.outputIndex}]`
}

function codecOptions(stream: PlannedStream, voices: readonly VoiceInput[]): readonly string[] {
  switch (stream.fate) {
    case 'replaced': {
      const { encoder, options } = stream.encoding
      const specifier = String(stream.outputIndex)
      const voice = voices.find((candidate) => candidate.stream === stream)
      if (voice?.encoded) return encodedStreamOptions(voice.encoded, specifier)
      return [`-c:${specifier}`, encoder, ...options.map((option) => option.replace('{s}', specifier))]
    }
    case 'converted':
      return [`-c:${stream.outputIndex}`, stream.codec]
    case 'copied':
    case 'dropped':
      return []
    default:
      return stream satisfies never
  }
}

/** Each disposition as it was: ffmpeg otherwise decides on defaults by itself. */
function dispositionOptions(stream: PlannedStream): readonly string[] {
  if (stream.fate === 'dropped') return []
  const names = stream.fate === 'copied' ? stream.dispositions : stream.input.dispositions
  return [`-disposition:${stream.outputIndex}`, names.join('+') || '0']
}
