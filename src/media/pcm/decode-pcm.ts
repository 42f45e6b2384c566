import { UsageError } from '../../core/errors.js'
import { blamingFile } from '../ffmpeg/blaming-file.js'
import { streamFfmpeg } from '../ffmpeg/ffmpeg.js'
import { type AudioStreamInfo, audioStreams, isSoundField, type MediaInfo } from '../media-info.js'
import type { ChannelPick } from '../voice-cut.js'
import { fileClockFilters, pickedFormat } from './clock-filters.js'
import { type ClockRange, decodedInput, type FileClock, fileClock, rangeFrom } from './file-clock.js'
import { frameBytes, type PcmFormat, type PcmStream, pcmFormatFor, type SampleType } from './pcm.js'
import { slicePcm, wholeFrames } from './pcm-streams.js'
import { rawOutputOptions } from './raw-input.js'

interface DecodePcmOptions {
  /** Index among the audio streams (`0:a:N`). */
  readonly audioIndex: number
  /** All channels by default. */
  readonly channels?: ChannelPick | undefined
  /** The whole track by default. */
  readonly range?: ClockRange | undefined
  /** Starts to read at the range ({@link FileClock.fromSample}) instead of at the start of the file. Default false. */
  readonly startsLate?: boolean | undefined
  /** A lossless type by default. */
  readonly sample?: SampleType | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * A track's samples on the file's own clock (the rules of {@link fileClockFilters}), at its own rate. Decodes while it
 * is read, in constant memory. `sampleCount` is known and exact if the range has an end.
 *
 * @throws {UsageError} `ERR_NO_SUCH_TRACK`; while reading, whatever ffmpeg's runner throws
 */
export function decodePcm(media: MediaInfo, options: DecodePcmOptions): PcmStream {
  const { audioIndex, channels = { kind: 'all' }, range, startsLate = false, signal } = options
  const stream = audioStreams(media)[audioIndex]
  if (!stream) {
    throw new UsageError('ERR_NO_SUCH_TRACK', `${media.path} has no audio track ${audioIndex}.`, { input: media.path })
  }
  const own = pcmFormatFor(stream)
  const format = pickedFormat({ ...own, sample: options.sample ?? own.sample }, channels)
  const fromSample = startsLate ? (range?.startSample ?? 0) : 0
  const clock = fileClock(media, { ...stream, sampleRate: own.sampleRate }, fromSample)
  const filters = fileClockFilters(clock, channels, range && rangeFrom(range, fromSample))
  const decoded: PcmStream = {
    format,
    sampleCount: null,
    buffers: () => decodedBuffers({ media, format, audioIndex, clock, filters }, signal),
  }
  if (!range || range.endSample === null) return decoded
  return slicePcm(decoded, 0, range.endSample - range.startSample)
}

/** How a track is read to measure it. */
interface MonoOptions {
  readonly sampleRate: number
  readonly sample: 's16' | 'f32'
  readonly signal?: AbortSignal | undefined
}

/**
 * Reads a track as one channel at another rate, on the file's own clock. Decodes it once, in constant memory.
 *
 * @throws {PrecheckError} `ERR_UNREADABLE` (-2) if the track cannot be decoded
 */
export async function readMono<T>(
  media: MediaInfo,
  stream: AudioStreamInfo,
  { sampleRate, sample, signal }: MonoOptions,
  use: (buffers: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const clock = fileClock(media, stream)
  const mono = `aformat=sample_fmts=${sample === 'f32' ? 'flt' : sample}:channel_layouts=mono`
  // ffmpeg mixes no sound field. Its first channel is the sound from all sides.
  const field = isSoundField(stream) ? ['pan=mono|c0=c0'] : []
  const filters = [...fileClockFilters(clock, { kind: 'all' }), ...field, `aresample=${sampleRate}`, mono]
  const format = { sampleRate, channels: 1, channelLayout: 'mono', sample }
  return blamingFile(media.path, signal, () =>
    use(decodedBuffers({ media, format, audioIndex: stream.audioIndex, clock, filters }, signal)),
  )
}

interface Decoding {
  readonly media: MediaInfo
  readonly format: PcmFormat
  readonly audioIndex: number
  readonly clock: FileClock
  readonly filters: readonly string[]
}

async function* decodedBuffers(
  { media, format, audioIndex, clock, filters }: Decoding,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const { stdout } = streamFfmpeg(
    {
      inputs: [decodedInput(media, clock)],
      filterComplex: `[0:a:${audioIndex}]${filters.join(',')}[pcm]`,
      outputs: [{ url: 'pipe:1', options: ['-map', '[pcm]', ...rawOutputOptions(format.sample)] }],
    },
    { signal, input: media.path },
  )
  yield* wholeFrames(stdout, frameBytes(format))
}
