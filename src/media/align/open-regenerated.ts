import { open } from 'node:fs/promises'
import { VerificationError, VoxmuxError } from '../../core/errors.js'
import { type AudioStreamInfo, audioStreams } from '../media-info.js'
import { readFlacFacts } from '../probe/ends/flac-end.js'
import { isLossless } from '../probe/media-info-of.js'
import { probe } from '../probe/probe.js'
import { countSamples } from './unpack-sound.js'

/** The facts about regenerated audio that its readers need. */
export type RegeneratedFacts = Pick<
  AudioStreamInfo,
  'codec' | 'sampleRate' | 'channels' | 'channelLayout' | 'sampleFormat' | 'bitsPerSample' | 'durationSec'
>

/** Lossless audio ends at its exact sample. Times in headers are rounded to less than this. */
const ROUNDING_SEC = 0.02
/** Faults that concern the file that was read. */
const ABOUT_THE_FILE: ReadonlySet<string> = new Set(['ERR_FFMPEG_FAILED', 'ERR_FFPROBE_ANSWER', 'ERR_INPUT_MISSING'])

/**
 * Opens regenerated audio. FLAC, which voxmux asks for, states its facts in its first bytes; any other file is probed.
 *
 * @throws {VerificationError} `ERR_ANSWER_UNREADABLE` if it contains no audio; whatever `probe` throws
 */
export async function openRegenerated(path: string, signal: AbortSignal | undefined): Promise<RegeneratedFacts> {
  const facts = await flacFacts(path)
  if (facts) return facts
  const [stream] = audioStreams(await probe(path, { signal }))
  if (stream) return stream
  throw new VerificationError('ERR_ANSWER_UNREADABLE', 'The regenerated file contains no audio.', { input: path })
}

async function flacFacts(path: string): Promise<RegeneratedFacts | undefined> {
  const file = await open(path, 'r').catch(() => undefined)
  try {
    const stated = file && (await readFlacFacts(file))
    if (!stated || stated.sampleRate === 0) return undefined
    const { sampleRate, channels, bitsPerSample, samples } = stated
    return {
      ...{ codec: 'flac', sampleRate, channels, channelLayout: null, bitsPerSample },
      sampleFormat: bitsPerSample > 16 ? 's32' : 's16',
      durationSec: samples === 0 ? null : samples / sampleRate,
    }
  } finally {
    await file?.close()
  }
}

/** Requires that all of a lossless file was decoded. @throws {VerificationError} `ERR_ANSWER_UNREADABLE` */
export function requireWhole(path: string, { codec, durationSec }: RegeneratedFacts, decodedSec: number): void {
  if (!isLossless(codec) || durationSec === null || decodedSec >= durationSec - ROUNDING_SEC) return
  const lengths = `${decodedSec.toFixed(2)} of ${durationSec.toFixed(2)} s`
  const message = `The regenerated audio is truncated: ${lengths} can be decoded.`
  throw new VerificationError('ERR_ANSWER_UNREADABLE', message, { input: path })
}

/** Requires that the audio of a regenerated file can be decoded to its end. */
export function requireDecodable(path: string, signal: AbortSignal | undefined): Promise<void> {
  return blamingRegenerated(path, async () => {
    const facts = await openRegenerated(path, signal)
    const { sampleRate } = facts
    const format = { sampleRate, channels: 1, channelLayout: 'mono', sample: 's16' } as const
    const samples = await countSamples({ path, filters: ['pan=mono|c0=c0'], format, signal })
    requireWhole(path, facts, samples / sampleRate)
  })
}

/** Runs work that reads regenerated audio. A fault of that file is the service's, never the user's input. */
export async function blamingRegenerated<T>(path: string, work: () => Promise<T>): Promise<T> {
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
