import { type FfmpegCommand, type FfmpegInput, runFfmpeg } from '../ffmpeg/ffmpeg.js'
import { fileUrl } from '../ffmpeg/input-safety.js'
import { type PcmFormat, type PcmStream, rawFormatName } from '../pcm/pcm.js'
import { writeBuffers } from '../pcm/pcm-file.js'
import { slicePcm } from '../pcm/pcm-streams.js'
import { rawInputOptions } from '../pcm/raw-input.js'
import { AAC_FRAME_SAMPLES } from './encode/adts-frames.js'
import { type AudioEncoding, encodingOptions } from './encode/audio-encoding.js'
import { encodedBeforeMux } from './encode/encode-in-turns.js'
import { type EncodedVoice, encodedInputOptions, encodedStreamOptions } from './encode/encoded-voice.js'
import { encoderLayoutFilters } from './encode/encoder-layout.js'
import { levelFilters } from './encode/encoder-level.js'
import { isEncodedInTurns, turnsCommands } from './encode/encoder-turns.js'
import type { VoiceFeed } from './remux/voice-feed.js'
import type { DonorFormat } from './writer.js'

/** A file of encoded packets beside an output. */
interface SideFile {
  readonly path: string
  readonly encoding: AudioEncoding
  readonly donor: DonorFormat
}

/** Command that encodes raw audio into a side file. */
export function donorCommand(source: FfmpegInput['url'], pcm: PcmFormat, side: SideFile): FfmpegCommand {
  const { path, encoding } = side
  const { muxer, options, skipSamples, sampleCount } = side.donor
  // The caller has already cut a voice of known length.
  const trim = sampleCount === null && skipSamples > 0 ? [`atrim=start_sample=${skipSamples}`, 'asetpts=N'] : []
  const filters = [...encoderLayoutFilters(pcm, encoding), ...trim, ...levelFilters(encoding)]
  return {
    inputs: [{ url: source, options: rawInputOptions(pcm) }],
    outputs: [
      {
        url: fileUrl(path),
        options: [
          ...(filters.length > 0 ? ['-filter:a', filters.join(',')] : []),
          ...encodingOptions(encoding, 'a'),
          // Allows experimental codecs, and keeps ffmpeg's name out of the packets.
          ...['-strict', '-2', '-fflags', '+bitexact', '-flags:a', '+bitexact', ...options, '-f', muxer],
        ],
      },
    ],
  }
}

/** Container formats whose side files signal the priming of frames that were encoded before. */
const TAKE_FRAMES: ReadonlySet<string> = new Set(['mp4', 'mov'])

/** True if several encoders work on a voice at once. It saves time in a long file, because all else waits for them. */
function isInTurns(
  { encoding, donor }: SideFile,
  { sampleCount, format }: Pick<PcmStream, 'format' | 'sampleCount'>,
): boolean {
  const sec = sampleCount === null ? null : sampleCount / format.sampleRate
  return TAKE_FRAMES.has(donor.muxer) && isEncodedInTurns(encoding, donor, sec)
}

/** Command that puts AAC frames that were encoded in turns into a side file. */
function framesCommand(
  frames: FfmpegInput['url'],
  encoded: EncodedVoice,
  sampleRate: number,
  { path, donor: { muxer, options } }: SideFile,
): FfmpegCommand {
  const copied = ['-c:a', 'copy', ...encodedStreamOptions(encoded, 'a')]
  return {
    inputs: [{ url: frames, options: encodedInputOptions(encoded, 0, sampleRate) }],
    outputs: [{ url: fileUrl(path), options: [...copied, '-fflags', '+bitexact', ...options, '-f', muxer] }],
  }
}

/** Previews the commands that encode a voice into a side file. */
export function donorCommands(
  voice: Pick<PcmStream, 'format' | 'sampleCount'>,
  side: SideFile,
): readonly FfmpegCommand[] {
  const { format, sampleCount } = voice
  if (!isInTurns(side, voice) || sampleCount === null) return [donorCommand('pipe:0', format, side)]
  const encoded = { sampleCount, primingSamples: AAC_FRAME_SAMPLES }
  return [...turnsCommands(format, side.encoding), framesCommand('pipe:0', encoded, format.sampleRate, side)]
}

/** ffmpeg names its raw muxers like the codecs, without `pcm_`. */
const RAW = /^([us]8|[suf](16|24|32|64)[lb]e|alaw|mulaw)$/

/** True if a side file is nothing but samples. */
export function isRaw({ muxer }: DonorFormat): boolean {
  return RAW.test(muxer)
}

/** True if a side file is nothing but the samples as they are: no encoder is needed. */
export function isFed({ sample }: PcmFormat, { muxer }: DonorFormat): boolean {
  return muxer === rawFormatName(sample)
}

/** Encodes a voice into a side file with the planned codec. @returns the exact arguments of each ffmpeg process */
export async function encodeDonor(
  { stream }: VoiceFeed,
  side: SideFile,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly string[])[]> {
  const { path, donor } = side
  const { skipSamples, sampleCount } = donor
  if (isInTurns(side, stream)) return encodeFrames(stream, side, signal)
  const own = sampleCount === null ? stream : slicePcm(stream, skipSamples, sampleCount)
  const voice = donor.hasHighBytesOnly ? withHighBytesOnly(own) : own
  if (isFed(stream.format, donor)) {
    await writeBuffers(voice.buffers(), path, signal)
    return []
  }
  const { args } = await runFfmpeg(donorCommand(voice.buffers(), stream.format, side), { signal })
  return [args]
}

async function encodeFrames(
  stream: PcmStream,
  side: SideFile,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly string[])[]> {
  const { skipSamples } = side.donor
  const sampleCount = side.donor.sampleCount ?? (stream.sampleCount ?? 0) - skipSamples
  const made = await encodedBeforeMux(stream, { skipSamples, sampleCount }, side.encoding, signal)
  const command = framesCommand(made.bytes, made.encoded, stream.format.sampleRate, side)
  return [...made.runs, (await runFfmpeg(command, { signal })).args]
}

/** Integers of 32 bits with a lowest byte of zero, as ffmpeg cuts those of 24 bits. @param stream of the type `s32` */
function withHighBytesOnly(stream: PcmStream): PcmStream {
  return {
    ...stream,
    async *buffers() {
      for await (const buffer of stream.buffers()) {
        const copy = Buffer.from(buffer)
        for (let at = 0; at < copy.length; at += 4) copy[at] = 0
        yield copy
      }
    },
  }
}
