import { VerificationError } from '../../core/errors.js'
import { audioStreams } from '../media-info.js'
import { defaultChannelLayout } from '../pcm/pcm.js'
import { PcmReader } from '../pcm/pcm-reader.js'
import { readSamples } from '../pcm/pcm-samples.js'
import { probe } from '../probe/probe.js'
import type { CutSound } from '../voice-cut.js'
import { alignVoice } from './align-voice.js'
import { filteredPcm } from './answer-pcm.js'

/** Smallest correlation of each second of two encodings of the same audio. Other audio mixed over it is below. */
const SAME_SOUND = 0.8
/** A second below this mean square (-50 dBFS) is too quiet for encoders to agree on. */
const QUIET = 1e-5

/**
 * Shift of low sounds' peak by encoder noise. Encoders never differ by so little: their lead-ins differ by hundreds of
 * samples or not at all.
 */
const NOISE_SAMPLES = 4

interface LagOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * Delay in samples of one audio file against another with the same audio, perhaps in another encoding. Compares every
 * second: a commentary over a part of the same film makes it different.
 *
 * @returns null for different audio, another length, rate or channels, and for silence
 * @throws PrecheckError for an unreadable file; InterruptedError
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
