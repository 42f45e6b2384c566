import { join } from 'node:path'
import { z } from 'zod'
import { TransientError, UsageError } from '../../../core/errors.js'
import { findFfmpeg, findFfprobe } from '../../ffmpeg/binaries.js'
import { runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { ffprobe } from '../../ffmpeg/ffprobe.js'
import { firstWrittenSec } from '../../ffmpeg/first-written.js'
import { temporaryFolder } from '../../ffmpeg/temporary-folder.js'
import { toolFact } from '../../ffmpeg/tool-memory.js'
import { defaultChannelLayout, type PcmFormat } from '../../pcm/pcm.js'
import { type AudioEncoding, encodingOptions } from './audio-encoding.js'
import { encoderLayoutFilters } from './encoder-layout.js'

/** Format of an encoder's input. */
export interface EncoderFeed {
  readonly sampleRate: number
  readonly channels: number
  /** Null or left out for the usual one. libopus refuses some. */
  readonly channelLayout?: string | null
}

type WholeFeed = Pick<PcmFormat, 'sampleRate' | 'channels' | 'channelLayout'>

const measured = new Map<string, Promise<unknown>>()

/** Samples that a lossy encoder adds before its input (AAC 1024, MP3 1105, …). Measured once per setting. */
export function encoderPriming(encoding: AudioEncoding, feed: EncoderFeed, signal?: AbortSignal): Promise<number> {
  return encoding.lossless ? Promise.resolve(0) : primingOf(encoding, wholeFeed(feed), signal)
}

function wholeFeed({ sampleRate, channels, channelLayout }: EncoderFeed): WholeFeed {
  return { sampleRate, channels, channelLayout: channelLayout ?? defaultChannelLayout(channels) }
}

/** Encodes 0.3 s of silence before anything is paid. @throws {UsageError} ERR_ENCODER_REFUSES */
export async function proveEncoder(encoding: AudioEncoding, feed: EncoderFeed, signal?: AbortSignal): Promise<void> {
  const { sampleRate, channels } = feed
  try {
    await primingOf(encoding, wholeFeed(feed), signal)
  } catch (cause) {
    // A fault of the moment says nothing about the encoder.
    if (signal?.aborted || cause instanceof TransientError) throw cause
    const rate = encoding.bitRate === null ? '' : ` and ${Math.round(encoding.bitRate / 1000)} kbit/s`
    throw new UsageError(
      'ERR_ENCODER_REFUSES',
      `ffmpeg's encoder ${encoding.encoder} does not support ${channels} channels at ${sampleRate} Hz${rate}.`,
      { cause, remedies: ['Choose another codec with a preset (`audio.codec`), or another container with --output.'] },
    )
  }
}

const matroskaPrimingSchema = z.object({
  /** True if the codec delay is written and the start of the track accounts for it. */
  isSignalled: z.boolean(),
  /**
   * Samples by which the decoded audio is early. ffmpeg 5 writes the codec delay of Opus but does not move the packets
   * by it. Its reader and every player expect that, and later versions do it.
   */
  shiftSamples: z.number(),
})
/** An encoder's priming in Matroska, as the installed ffprobe reads it. */
type MatroskaPriming = Readonly<z.infer<typeof matroskaPrimingSchema>>

/** Measures {@link MatroskaPriming} with the installed tools, once per process and setting. */
export function matroskaPriming(
  encoding: AudioEncoding,
  asked: EncoderFeed,
  signal?: AbortSignal,
): Promise<MatroskaPriming> {
  const feed = wholeFeed(asked)
  return measuredOnce(['matroska', settingOf(encoding), feed], matroskaPrimingSchema, () =>
    measureMatroskaPriming(encoding, feed, signal),
  )
}

function primingOf(encoding: AudioEncoding, feed: WholeFeed, signal: AbortSignal | undefined): Promise<number> {
  return measuredOnce(['encoder', settingOf(encoding), feed], z.number(), () => measurePriming(encoding, feed, signal))
}

/**
 * The part of an encoding on which the measurement depends. The AAC encoder takes every bit rate from 20 bit/s on, and
 * its priming is one frame. Bit rates are those of packets, so almost every file has its own.
 */
function settingOf(encoding: AudioEncoding): unknown {
  return encoding.encoder === 'aac' ? 'aac' : encoding
}

/** Measures once per process and setting, and once per installed tool if the process keeps such facts. */
export async function measuredOnce<T>(
  key: readonly unknown[],
  schema: z.ZodType<T>,
  measure: () => Promise<T>,
): Promise<T> {
  const tools = await Promise.all([findFfmpeg(), findFfprobe()])
  const name = JSON.stringify([tools, ...key])
  const known = measured.get(name)
  if (known) return known as Promise<T>
  const paths = tools.map(({ path }) => path)
  const running = toolFact(paths, key, schema, measure)
  measured.set(name, running)
  running.catch(() => measured.delete(name))
  return running
}

/** 0.3 s of silence as an input of ffmpeg. */
export function silence({ sampleRate, channels }: EncoderFeed) {
  return {
    url: '/dev/zero',
    options: ['-f', 's16le', '-ar', String(sampleRate), '-ac', String(channels), '-t', '0.3'],
  }
}

/** Options of an output of one track, in the encoding. */
export function encoderOptions(encoding: AudioEncoding, feed: EncoderFeed): readonly string[] {
  const filters = encoderLayoutFilters(wholeFeed(feed), encoding)
  const filter = filters.length > 0 ? ['-filter:a', filters.join(',')] : []
  return [...filter, ...encodingOptions(encoding, 'a'), '-strict', '-2']
}

async function measurePriming(encoding: AudioEncoding, feed: WholeFeed, signal?: AbortSignal): Promise<number> {
  const startSec = await firstWrittenSec([silence(feed)], encoderOptions(encoding, feed), { signal })
  return Math.max(0, Math.round(-(startSec ?? 0) * feed.sampleRate))
}

const startSchema = z.object({
  packets: z.array(z.object({ pts_time: z.coerce.number() })).length(1),
  streams: z.array(z.object({ start_time: z.coerce.number() })).length(1),
})

async function measureMatroskaPriming(
  encoding: AudioEncoding,
  feed: WholeFeed,
  signal?: AbortSignal,
): Promise<MatroskaPriming> {
  const priming = await encoderPriming(encoding, feed, signal)
  await using folder = await temporaryFolder('voxmux-priming-')
  const path = join(folder.path, 'second.mkv')
  await runFfmpeg(
    {
      inputs: [silence(feed)],
      outputs: [
        { url: path, options: [...encoderOptions(encoding, feed), '-output_ts_offset', '1', '-f', 'matroska'] },
      ],
    },
    { signal },
  )
  const show = ['-show_entries', 'packet=pts_time:stream=start_time', '-read_intervals', '%+#1']
  const { packets, streams } = await ffprobe(path, show, startSchema, { signal })
  const before = (sec: number | undefined) => Math.round((1 - (sec ?? 1)) * feed.sampleRate)
  // Timestamps are in ms, so only a whole priming can be told from none.
  const isNearer = (value: number, one: number, other: number) => Math.abs(value - one) < Math.abs(value - other)
  return {
    isSignalled: isNearer(before(streams[0]?.start_time), 0, priming),
    shiftSamples: isNearer(before(packets[0]?.pts_time), 2 * priming, priming) ? priming : 0,
  }
}
