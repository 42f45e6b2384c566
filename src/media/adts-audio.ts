import { open } from 'node:fs/promises'
import { JobFailedError } from '../core/errors.js'
import { AAC_FRAME_SAMPLES } from './adts-frames.js'
import type { AudioEncoding } from './audio-encoding.js'
import { encoderPriming } from './encoder-priming.js'
import { type FfmpegRunOptions, runFfmpeg } from './ffmpeg.js'
import { fileUrl, safeInputOptions } from './input-safety.js'
import { waveSampleCount } from './wave-length.js'

export type AdtsOptions = Pick<FfmpegRunOptions, 'signal' | 'onProgressSec'>

/**
 * Decodes a file of ADTS frames to a WAV (32-bit float) that holds every sample of every frame, the encoder's lead-in
 * included: frame n stands at sample n × 1024.
 *
 * @returns samples a channel
 * @throws PrecheckError ERR_UNREADABLE; TransientError ERR_DISK_FULL; JobFailedError ERR_CUT_LENGTH
 */
export async function decodeAdts(path: string, wavePath: string, options: AdtsOptions = {}): Promise<number> {
  await runFfmpeg(
    {
      inputs: [{ url: fileUrl(path), options: [...safeInputOptions(), '-f', 'aac'] }],
      outputs: [
        {
          url: fileUrl(wavePath),
          options: ['-map', '0:a:0', '-map_metadata', '-1', '-c:a', 'pcm_f32le', '-rf64', 'auto', '-f', 'wav'],
        },
      ],
    },
    { ...options, input: path },
  )
  const file = await open(wavePath, 'r')
  const sampleCount = await waveSampleCount(file).finally(() => file.close())
  if (sampleCount === null) throw new JobFailedError('ERR_CUT_LENGTH', `The sound of ${path} could not be decoded.`)
  return sampleCount
}

/** What a file of ADTS frames is encoded with. */
export interface AdtsEncoding {
  readonly sampleRate: number
  readonly channels: number
  /** Bits a second. */
  readonly bitRate: number
  /** Samples by which the sound comes later than in the WAV (negative: earlier); default 0. */
  readonly delaySamples?: number | undefined
  /** Samples that are wanted; where the WAV has fewer, silence follows. Default: what it has. */
  readonly sampleCount?: number | undefined
}

/**
 * Encodes a WAV in one run to AAC-LC in ADTS frames.
 *
 * @returns how many frames the encoder puts before those that were asked for: frame `leadFrames + n` decodes to the
 *   samples from n × 1024 on, to the sample
 * @throws TransientError ERR_DISK_FULL; JobFailedError ERR_FFMPEG_FAILED
 */
export async function encodeAdts(
  wavePath: string,
  path: string,
  { bitRate, delaySamples = 0, sampleCount = 0, ...feed }: AdtsEncoding,
  options: AdtsOptions = {},
): Promise<{ leadFrames: number }> {
  const rate = String(Math.round(bitRate))
  const encoding: AudioEncoding = { codec: 'aac', encoder: 'aac', lossless: false, bitRate, options: ['-b:{s}', rate] }
  const primingSamples = await encoderPriming(encoding, feed, options.signal)
  const leadFrames = Math.ceil(primingSamples / AAC_FRAME_SAMPLES)
  // An encoder that begins in the middle of a frame is fed silence up to its end.
  const padSamples = leadFrames * AAC_FRAME_SAMPLES - primingSamples + delaySamples
  const filters = [
    ...(padSamples > 0 ? [`adelay=delays=${padSamples}S:all=1`] : []),
    ...(padSamples < 0 ? [`atrim=start_sample=${-padSamples}`, 'asetpts=N/SR/TB'] : []),
    ...(sampleCount > 0 ? [`apad=whole_len=${sampleCount + leadFrames * AAC_FRAME_SAMPLES - primingSamples}`] : []),
  ]
  await runFfmpeg(
    {
      inputs: [{ url: fileUrl(wavePath), options: safeInputOptions() }],
      outputs: [
        {
          url: fileUrl(path),
          options: [
            ...['-map', '0:a:0', '-map_metadata', '-1'],
            ...(filters.length > 0 ? ['-af', filters.join(',')] : []),
            ...['-c:a', encoding.encoder, '-b:a', rate, '-f', 'adts'],
          ],
        },
      ],
    },
    { ...options, input: wavePath },
  )
  return { leadFrames }
}
