import { VerificationError } from '../core/errors.js'
import { alignVoice } from './align-voice.js'
import { filteredPcm } from './answer-pcm.js'
import { audioStreams } from './media-info.js'
import { defaultChannelLayout } from './pcm.js'
import { PcmReader } from './pcm-reader.js'
import { readSamples } from './pcm-samples.js'
import { probe } from './probe.js'
import type { CutSound } from './voice-cut.js'

/** Correlation of every second of two encodings of one sound, at the least; something else mixed over it falls below. */
const SAME_SOUND = 0.8
/** Mean square of a second in which nothing is to be heard that encoders would agree on: -50 dBFS. */
const QUIET = 1e-5

/**
 * What an encoder's noise moves the peak of low sounds by. No two encoders differ by so little: their lead-ins differ by
 * hundreds of samples, or by none.
 */
const NOISE_SAMPLES = 4

interface LagOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * By how many samples a file of sound is later than another that holds the same sound, encoded otherwise perhaps.
 * Every second is compared: the same film with a commentary over a part of it is another sound.
 *
 * @returns null where it is another sound, is shorter or longer, has another rate or other channels, or where nothing
 *   is heard
 * @throws PrecheckError for a file that cannot be read; InterruptedError
 */
export async function soundLag(
  referencePath: string,
  path: string,
  { signal }: LagOptions = {},
): Promise<number | null> {
  const [reference, other] = await Promise.all([soundOf(referencePath, signal), soundOf(path, signal)])
  if (!reference || !other) return null
  if (reference.sampleRate !== other.sampleRate || reference.channels !== other.channels) return null
  if (Math.abs(reference.sampleCount - other.sampleCount) > reference.sampleRate / 4) return null
  try {
    const { lagSamples: measured, method } = await alignVoice(reference, path, { signal })
    const lagSamples = Math.abs(measured) <= NOISE_SAMPLES ? 0 : measured
    return method === 'waveform' && (await isSameThroughout(reference, other, lagSamples, signal)) ? lagSamples : null
  } catch (error) {
    if (error instanceof VerificationError) return null
    throw error
  }
}

async function isSameThroughout(reference: CutSound, other: CutSound, lagSamples: number, signal?: AbortSignal) {
  const [one, two] = [readerOf(reference, signal), readerOf(other, signal)]
  try {
    await one.skip(Math.max(0, -lagSamples))
    await two.skip(Math.max(0, lagSamples))
    for (;;) {
      const [a, b] = await Promise.all([one.read(reference.sampleRate), two.read(reference.sampleRate)])
      if (a.length === 0 || b.length === 0) return true
      if (!isSameSecond(readSamples(a, 'f32'), readSamples(b, 'f32'))) return false
    }
  } finally {
    await Promise.all([one.close(), two.close()])
  }
}

function isSameSecond(a: Float64Array, b: Float64Array): boolean {
  const count = Math.min(a.length, b.length)
  let [both, ofA, ofB] = [0, 0, 0]
  for (let at = 0; at < count; at++) {
    const [x, y] = [a[at] as number, b[at] as number]
    both += x * y
    ofA += x * x
    ofB += y * y
  }
  return Math.max(ofA, ofB) < QUIET * count || both >= SAME_SOUND * Math.sqrt(ofA * ofB)
}

function readerOf({ path, sampleRate, channels, channelLayout }: CutSound, signal: AbortSignal | undefined): PcmReader {
  const format = { sampleRate, channels, channelLayout, sample: 'f32' as const }
  return new PcmReader(filteredPcm({ path, filters: [], format, seeksExactly: true, signal }))
}

async function soundOf(path: string, signal: AbortSignal | undefined): Promise<CutSound | null> {
  const media = await probe(path, { signal })
  const [stream] = audioStreams(media)
  if (!stream || media.durationSec === null) return null
  const { sampleRate, channels, channelLayout } = stream
  const sampleCount = Math.round(media.durationSec * sampleRate)
  const range = { startSample: 0, endSample: sampleCount }
  return {
    path,
    sampleRate,
    channels,
    channelLayout: channelLayout ?? defaultChannelLayout(channels),
    range,
    sampleCount,
  }
}
