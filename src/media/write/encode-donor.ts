import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type FfmpegCommand, runFfmpeg } from '../ffmpeg/ffmpeg.js'
import { fileUrl } from '../ffmpeg/input-safety.js'
import { type PcmStream, pcmCodecName } from '../pcm/pcm.js'
import { slicePcm } from '../pcm/pcm-streams.js'
import { layoutFilters, rawInputOptions } from '../pcm/raw-input.js'
import type { AudioEncoding } from './encode/audio-encoding.js'
import { VoiceFeed } from './remux/voice-feed.js'
import type { DonorFormat } from './writer.js'

/** Command that encodes raw audio into a side file. */
export function donorCommand(
  source: FfmpegCommand['inputs'][number]['url'],
  { format: pcm }: Pick<PcmStream, 'format'>,
  encoding: AudioEncoding,
  { muxer, options, skipSamples, sampleCount }: DonorFormat,
  path: string,
): FfmpegCommand {
  // The caller has already cut a voice of known length.
  const trim = sampleCount === null && skipSamples > 0 ? [`atrim=start_sample=${skipSamples}`, 'asetpts=N'] : []
  const filters = [...layoutFilters(pcm), ...trim]
  return {
    inputs: [{ url: source, options: rawInputOptions(pcm) }],
    outputs: [
      {
        url: fileUrl(path),
        options: [
          ...(filters.length > 0 ? ['-filter:a', filters.join(',')] : []),
          ...['-c:a', encoding.encoder, ...encoding.options.map((option) => option.replace('{s}', 'a'))],
          // Allows experimental codecs, and keeps ffmpeg's name out of the packets.
          ...['-strict', '-2', '-fflags', '+bitexact', '-flags:a', '+bitexact', ...options, '-f', muxer],
        ],
      },
    ],
  }
}

/** True if a side file is nothing but samples: ffmpeg names its raw muxers like the codecs, without `pcm_`. */
function isRaw({ muxer }: DonorFormat, { codec }: AudioEncoding): boolean {
  return `pcm_${muxer}` === codec
}

/**
 * Encodes a voice into a side file, once and with the planned codec.
 *
 * @returns the exact arguments of each ffmpeg process
 */
export async function encodeDonor(
  feed: VoiceFeed,
  encoding: AudioEncoding,
  donor: DonorFormat,
  path: string,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly string[])[]> {
  const { stream } = feed
  const { skipSamples, sampleCount } = donor
  const voice = sampleCount === null ? stream : slicePcm(stream, skipSamples, sampleCount)
  const source = VoiceFeed.readableOf(voice)
  if (encoding.codec === pcmCodecName(stream.format.sample) && isRaw(donor, encoding)) {
    // The samples already have the format of the file.
    await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal })
    return []
  }
  const { args } = await runFfmpeg(donorCommand(source, stream, encoding, donor, path), { signal })
  return [args]
}
