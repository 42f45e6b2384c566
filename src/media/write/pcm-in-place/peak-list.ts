import { streamFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { fileUrl } from '../../ffmpeg/input-safety.js'
import { frameBytes, type PcmFormat } from '../../pcm/pcm.js'
import { readSamples } from '../../pcm/pcm-samples.js'
import { wholeFrames } from '../../pcm/pcm-streams.js'

/** The form of a chunk with the highest sample of each channel: `PEAK` of WAV and AIFF-C, `peak` of CAF. */
export interface PeakList {
  /** Offset of its entries in the chunk. */
  readonly entriesAt: number
  readonly channels: number
  /** Bytes of the place of a peak, in samples from the start. */
  readonly placeBytes: 4 | 8
  readonly isBigEndian: boolean
}

/** The highest sample of a channel, regardless of its sign. */
export interface ChannelPeak {
  readonly value: number
  readonly sample: number
}

/** Bytes of a peak's value, a float. */
const VALUE_BYTES = 4
/** Bytes that tell the form of a list: the version of `PEAK`, or the count of edits of `peak`. */
export const PEAK_HEAD_BYTES = 4

/** The form of a chunk of this id; null if it is not a list of peaks as libsndfile and Apple write it. */
export function peakListOf(id: string, head: Buffer, bodyLength: number): PeakList | null {
  const isCaf = id === 'peak'
  const [entriesAt, placeBytes] = isCaf ? ([4, 8] as const) : ([8, 4] as const)
  const channels = (bodyLength - entriesAt) / (VALUE_BYTES + placeBytes)
  if (!Number.isInteger(channels) || channels < 1 || head.length < PEAK_HEAD_BYTES) return null
  const isBigEndian = isCaf || head.readUInt32BE(0) === 1
  return isBigEndian || head.readUInt32LE(0) === 1 ? { entriesAt, channels, placeBytes, isBigEndian } : null
}

/** The entries of a list for new sound. Zeros stand for a channel that the sound does not have. */
export function peakEntries({ channels, placeBytes, isBigEndian }: PeakList, peaks: readonly ChannelPeak[]): Buffer {
  return Buffer.concat(
    Array.from({ length: channels }, (_, channel) => {
      const { value, sample } = peaks[channel] ?? { value: 0, sample: 0 }
      const entry = Buffer.alloc(VALUE_BYTES + placeBytes)
      if (isBigEndian) entry.writeFloatBE(value)
      else entry.writeFloatLE(value)
      if (placeBytes === 8) entry.writeBigUInt64BE(BigInt(sample), VALUE_BYTES)
      else if (isBigEndian) entry.writeUInt32BE(sample, VALUE_BYTES)
      else entry.writeUInt32LE(sample, VALUE_BYTES)
      return entry
    }),
  )
}

/** Measures the only track of a file at a full scale of 1. @param readOptions with which ffmpeg reads it */
export async function measurePeaks(
  path: string,
  format: PcmFormat,
  readOptions: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly ChannelPeak[]> {
  const { channels } = format
  const peaks = Array.from({ length: channels }, () => ({ value: 0, sample: 0 }))
  const { stdout, done } = streamFfmpeg(
    {
      inputs: [{ url: fileUrl(path), options: readOptions }],
      outputs: [{ url: 'pipe:1', options: ['-c:a', 'pcm_f32le', '-f', 'f32le'] }],
    },
    { signal, input: path },
  )
  let before = 0
  for await (const buffer of wholeFrames(stdout, frameBytes({ sample: 'f32', channels }))) {
    const values = readSamples(buffer, 'f32')
    for (const [place, value] of values.entries()) {
      const peak = peaks[place % channels]
      if (!peak || Math.abs(value) <= peak.value) continue
      peak.value = Math.abs(value)
      peak.sample = before + Math.floor(place / channels)
    }
    before += values.length / channels
  }
  await done
  return peaks
}
