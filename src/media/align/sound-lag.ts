import { rm } from 'node:fs/promises'
import { VerificationError } from '../../core/errors.js'
import { audioStreams } from '../media-info.js'
import { defaultChannelLayout } from '../pcm/pcm.js'
import { type PcmFile, readPcmFile } from '../pcm/pcm-file.js'
import { PcmReader } from '../pcm/pcm-reader.js'
import { readSamples } from '../pcm/pcm-samples.js'
import { probe } from '../probe/probe.js'
import { alignVoice } from './align-voice.js'
import { unpackSound } from './unpack-sound.js'

/** Smallest correlation of each second of two encodings of the same audio. Other audio mixed over it is below. */
const SAME_SOUND = 0.8
/** A second below this mean square (-50 dBFS) is too quiet for encoders to agree on. */
const QUIET = 1e-5

/** Shift of low sounds' peak by encoder noise. The priming of encoders differs by hundreds of samples or not at all. */
const NOISE_SAMPLES = 4

/**
 * Delay in samples of one audio file against another with the same audio, perhaps in another encoding. Compares every
 * second: a commentary over a part of the same film makes it different. Unpacks both beside the second file meanwhile.
 *
 * @returns null for different audio, another length, rate or channels, and for silence
 * @throws PrecheckError for an unreadable file; InterruptedError
 */
export async function soundLag(
  referencePath: string,
  path: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<number | null> {
  const [reference, other] = await Promise.all([soundOf(referencePath, signal), soundOf(path, signal)])
  if (!reference || !other) return null
  const { sampleRate, channels, channelLayout, sampleCount } = reference
  if (sampleRate !== other.sampleRate || channels !== other.channels) return null
  if (Math.abs(sampleCount - other.sampleCount) > sampleRate / 4) return null
  const unpacked = [`${path}.reference.pcm`, `${path}.pcm`] as const
  try {
    const format = { sampleRate, channels, channelLayout, sample: 'f32' } as const
    const pcm = await unpackSound({ path: referencePath, filters: [], format, signal }, unpacked[0])
    const range = { startSample: 0, endSample: sampleCount }
    const found = await alignVoice({ ...reference, range, pcm }, path, { signal })
    if (found.method !== 'waveform') return null
    const lagSamples = Math.abs(found.lagSamples) <= NOISE_SAMPLES ? 0 : found.lagSamples
    return (await isSameThroughout(pcm, found.regenerated.pcm, lagSamples, signal)) ? lagSamples : null
  } catch (error) {
    if (error instanceof VerificationError) return null
    throw error
  } finally {
    await Promise.all(unpacked.map((made) => rm(made, { force: true })))
  }
}

async function isSameThroughout(reference: PcmFile, other: PcmFile, lagSamples: number, signal?: AbortSignal) {
  const open = (file: PcmFile) => new PcmReader(readPcmFile(file, { sample: 'f32', signal }))
  const [one, two] = [open(reference), open(other)]
  try {
    await one.skip(Math.max(0, -lagSamples))
    await two.skip(Math.max(0, lagSamples))
    for (;;) {
      const [a, b] = await Promise.all([one.read(reference.format.sampleRate), two.read(reference.format.sampleRate)])
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

async function soundOf(path: string, signal: AbortSignal | undefined) {
  const media = await probe(path, { signal })
  const [stream] = audioStreams(media)
  if (!stream || media.durationSec === null) return null
  const { sampleRate, channels, channelLayout: layout } = stream
  const channelLayout = layout ?? defaultChannelLayout(channels)
  return { sampleRate, channels, channelLayout, sampleCount: Math.round(media.durationSec * sampleRate) }
}
