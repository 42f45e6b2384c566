import { join } from 'node:path'
import { z } from 'zod'
import { JobFailedError, PrecheckError } from '../../core/errors.js'
import { runFfmpeg } from '../ffmpeg/ffmpeg.js'
import { temporaryFolder } from '../ffmpeg/temporary-folder.js'
import { audioStreams } from '../media-info.js'
import { decodePcm } from '../pcm/decode-pcm.js'
import { type PcmFormat, type PcmStream, pcmFormatFor } from '../pcm/pcm.js'
import { readSamples, writeSamples } from '../pcm/pcm-samples.js'
import { probe } from '../probe/probe.js'
import { type AudioEncoding, withChannels } from './encode/audio-encoding.js'
import { measuredOnce } from './encode/encoder-priming.js'
import { donorCommand, isFed, isRaw } from './encode-donor.js'
import type { DonorFormat, WantedTrack } from './writer.js'

/** Long enough for ffmpeg to recognize frames without a header. */
const TRIAL_SEC = 1
const TONE = { level: 0.3, periodSamples: 32 } as const
/** Share of the tone's energy that must be decoded again. Priming may replace its start, and codecs have losses. */
const LEAST_SHARE = 0.5

/**
 * Encodes a second of a tone into a side file as a job does, and reads it again, before anything is paid. Tried once
 * per encoding and format: ffmpeg refuses some codecs in a container, and writes others so that nobody can read them.
 *
 * @param read what the writer reads of its side file
 * @returns why a writer cannot use such a side file; null if it can
 */
export function donorFault(
  track: WantedTrack,
  donor: DonorFormat,
  read: (path: string) => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const { encoding, input, channels } = track
  const pcm = pcmFormatFor(withChannels(input, channels))
  if (isFed(pcm, donor)) return Promise.resolve(null)
  // No container depends on the bit rate of a lossy codec, and almost every file has its own.
  const setting = [encoding.encoder, encoding.lossless ? encoding.options : []]
  const key = ['donor', donor.muxer, donor.options, setting, pcm]
  return measuredOnce(key, z.string().nullable(), () => tryDonor({ encoding, donor, pcm, read }, signal))
}

interface Trial {
  readonly encoding: AudioEncoding
  readonly donor: DonorFormat
  readonly pcm: PcmFormat
  readonly read: (path: string) => Promise<unknown>
}

async function tryDonor(
  { encoding, donor, pcm, read }: Trial,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  await using folder = await temporaryFolder('voxmux-donor-')
  const fault = (why: string) => `ffmpeg's muxer ${donor.muxer} ${why}`
  try {
    const path = join(folder.path, 'donor')
    const voice = tone(pcm)
    const whole = { ...donor, skipSamples: 0, sampleCount: null }
    await runFfmpeg(donorCommand(voice.buffers(), pcm, { path, encoding, donor: whole }), { signal })
    if (!isRaw(donor)) {
      const made = await probe(path, { signal })
      const codec = audioStreams(made)[0]?.codec
      if (codec !== encoding.codec) return fault(`writes ${encoding.codec} so that it is read as ${codec}`)
      const before = await energyOf(voice)
      const isDecoded = (await energyOf(decodePcm(made, { audioIndex: 0, signal }))) >= LEAST_SHARE * before
      if (!isDecoded) return fault(`writes ${encoding.codec} so that it cannot be decoded`)
    }
    // A writer may change the file.
    await read(path)
    return null
  } catch (cause) {
    const isOfFile = cause instanceof JobFailedError || cause instanceof PrecheckError
    if (signal?.aborted || !isOfFile) throw cause
    return fault(`does not write ${encoding.codec} as it is here`)
  }
}

/** The same tone in all channels. */
function tone(format: PcmFormat): PcmStream {
  const { sampleRate, channels, sample } = format
  const sampleCount = TRIAL_SEC * sampleRate
  const values = Float64Array.from({ length: sampleCount * channels }, (_, at) => {
    return TONE.level * Math.sin((2 * Math.PI * Math.floor(at / channels)) / TONE.periodSamples)
  })
  const bytes = writeSamples(values, sample)
  return {
    ...{ format, sampleCount },
    async *buffers() {
      yield bytes
    },
  }
}

async function energyOf({ format, buffers }: PcmStream): Promise<number> {
  let energy = 0
  for await (const buffer of buffers()) {
    for (const value of readSamples(buffer, format.sample)) energy += value * value
  }
  return energy
}
