import { VerificationError, VoxmuxError } from '../../core/errors.js'
import { type AudioStreamInfo, audioStreams } from '../media-info.js'
import { frameBytes } from '../pcm/pcm.js'
import { isLossless } from '../probe/media-info-of.js'
import { probe } from '../probe/probe.js'
import { filteredPcm } from './answer-pcm.js'

/** Lossless audio ends at its exact sample. Times in headers are rounded to less than this. */
const ROUNDING_SEC = 0.02
/** Faults that concern the file that was read. */
const ABOUT_THE_FILE: ReadonlySet<string> = new Set(['ERR_FFMPEG_FAILED', 'ERR_FFPROBE_ANSWER', 'ERR_INPUT_MISSING'])

/**
 * Opens regenerated audio.
 *
 * @throws {VerificationError} `ERR_ANSWER_UNREADABLE` if it contains no audio; whatever `probe` throws
 */
export async function openAnswer(path: string, signal: AbortSignal | undefined): Promise<AudioStreamInfo> {
  const [stream] = audioStreams(await probe(path, { signal }))
  if (stream) return stream
  throw new VerificationError('ERR_ANSWER_UNREADABLE', 'The regenerated file contains no audio.', { input: path })
}

/**
 * Decodes regenerated audio to its end, because its header may promise more than arrived.
 *
 * @returns seconds of audio in it
 * @throws {VerificationError} `ERR_ANSWER_UNREADABLE` if lossless audio is shorter than its header states
 */
export async function decodedSec(
  path: string,
  { sampleRate, codec, durationSec }: AudioStreamInfo,
  signal: AbortSignal | undefined,
): Promise<number> {
  const format = { sampleRate, channels: 1, channelLayout: 'mono', sample: 's16' } as const
  let bytes = 0
  for await (const chunk of filteredPcm({
    path,
    filters: ['pan=mono|c0=c0'],
    format,
    seeksExactly: false,
    signal,
  }).chunks())
    bytes += chunk.length
  const sec = bytes / frameBytes(format) / sampleRate
  if (isLossless(codec) && durationSec !== null && sec < durationSec - ROUNDING_SEC) {
    const message = `The regenerated audio is truncated: ${sec.toFixed(2)} of ${durationSec.toFixed(2)} s can be decoded.`
    throw new VerificationError('ERR_ANSWER_UNREADABLE', message, { input: path })
  }
  return sec
}

/** Requires that the audio of a regenerated file can be decoded to its end. */
export function requireDecodable(path: string, signal: AbortSignal | undefined): Promise<void> {
  return blamingAnswer(path, async () => void (await decodedSec(path, await openAnswer(path, signal), signal)))
}

/** Runs work that reads regenerated audio. A fault of that file is the service's, never the user's input. */
export async function blamingAnswer<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof VoxmuxError) || (cause.exitCode !== 5 && !ABOUT_THE_FILE.has(cause.code))) throw cause
    throw new VerificationError('ERR_ANSWER_UNREADABLE', 'The regenerated audio cannot be decoded.', {
      cause,
      input: path,
    })
  }
}
