import { open } from 'node:fs/promises'
import { JobFailedError } from '../../../core/errors.js'
import { type FfmpegRunOptions, runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../../ffmpeg/input-safety.js'
import { waveSampleCount } from '../../probe/wave-chunks.js'
import { aacCoderOptions } from './aac-coder.js'
import { AAC_FRAME_SAMPLES } from './adts-frames.js'
import { type AudioEncoding, encodingOptions } from './audio-encoding.js'
import { encoderPriming } from './encoder-priming.js'

type AdtsOptions = Pick<FfmpegRunOptions, 'signal' | 'onProgressSec'>

/**
 * Decodes a file of ADTS frames to a WAV (32-bit float) with every sample of every frame. The encoder's priming
 * stays, so that frame n begins at sample n × 1024.
 *
 * @returns samples per channel
 * @throws {PrecheckError} ERR_UNREADABLE
 * @throws {TransientError} ERR_DISK_FULL
 * @throws {JobFailedError} ERR_CUT_LENGTH
 */
export async function decodeAdts(path: string, wavePath: string, options: AdtsOptions): Promise<number> {
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
  await using file = await open(wavePath, 'r')
  const sampleCount = await waveSampleCount(file)
  if (sampleCount === null) throw new JobFailedError('ERR_CUT_LENGTH', `ffmpeg could not decode the audio of ${path}.`)
  return sampleCount
}

/** Settings for encoding a file of ADTS frames. */
interface AdtsEncoding {
  readonly sampleRate: number
  readonly channels: number
  /** Bits per second. */
  readonly bitRate: number
  /** Samples by which the audio is later than in the WAV; negative for earlier; default 0. */
  readonly delaySamples?: number | undefined
  /** Samples to encode. Silence pads a shorter WAV. Default: the length of the WAV. */
  readonly sampleCount?: number | undefined
}

/**
 * Encodes a WAV in one run to AAC-LC in ADTS frames.
 *
 * @returns the number of priming frames: frame `leadFrames + n` decodes to the samples from n × 1024 on, to the sample
 * @throws {TransientError} ERR_DISK_FULL
 * @throws {JobFailedError} ERR_FFMPEG_FAILED
 */
export async function encodeAdts(
  wavePath: string,
  path: string,
  { bitRate, delaySamples = 0, sampleCount = 0, ...feed }: AdtsEncoding,
  runOptions: AdtsOptions,
): Promise<{ leadFrames: number }> {
  const options = ['-b:{s}', String(Math.round(bitRate)), ...(await aacCoderOptions())]
  const encoding: AudioEncoding = { codec: 'aac', encoder: 'aac', lossless: false, bitRate, options }
  const primingSamples = await encoderPriming(encoding, feed, runOptions.signal)
  const leadFrames = Math.ceil(primingSamples / AAC_FRAME_SAMPLES)
  // Silence aligns an encoder that begins in the middle of a frame.
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
            ...[...encodingOptions(encoding, 'a'), '-f', 'adts'],
          ],
        },
      ],
    },
    { ...runOptions, input: wavePath },
  )
  return { leadFrames }
}
