import { type FfmpegCommand, ffmpegArguments } from '../../ffmpeg/ffmpeg.js'
import { type PcmStream, pcmFormatFor, type SampleType } from '../../pcm/pcm.js'
import { slicePcm } from '../../pcm/pcm-streams.js'
import type { ContainerProfile } from '../container-profile.js'
import { AAC_FRAME_SAMPLES } from '../encode/adts-frames.js'
import type { AudioEncoding } from '../encode/audio-encoding.js'
import { encodeInTurns } from '../encode/encode-in-turns.js'
import { encoderPriming } from '../encode/encoder-priming.js'
import { isEncodedInTurns, LANES, turnsCommand } from '../encode/encoder-turns.js'
import { type MuxInput, newStreams } from './mux-command.js'
import type { MuxPlan } from './mux-plan.js'
import type { NewStream } from './plan-streams.js'
import type { VoiceFeed } from './voice-feed.js'

/** A new voice as an input of the mux. */
interface CarriedVoice extends Pick<MuxInput, 'encoded'> {
  readonly bytes: AsyncIterable<Buffer>
  /** Exact arguments of the extra ffmpeg processes that encode it. */
  readonly runs: readonly (readonly string[])[]
}

interface CarryOptions extends Pick<MuxInput, 'skipSamples'> {
  readonly signal?: AbortSignal | undefined
}

/** Feeds a voice as raw PCM, or encodes it in parallel if that saves time. */
export async function carryVoice(
  { profile }: MuxPlan,
  { encoding }: NewStream,
  feed: VoiceFeed,
  { skipSamples, signal }: CarryOptions,
): Promise<CarriedVoice> {
  const { stream } = feed
  const { format, sampleCount } = stream
  if (sampleCount === null || !isCarriedEncoded(profile, encoding, stream)) {
    return { encoded: null, bytes: stream.chunks(), runs: [] }
  }
  const left = sampleCount - skipSamples
  const args = ffmpegArguments(turnsCommand('pipe:0', format, encoding))
  return {
    encoded: { sampleCount: left, primingSamples: await encoderPriming(encoding, format, signal) },
    bytes: encodeInTurns(slicePcm(stream, skipSamples, left), encoding, signal),
    runs: Array.from({ length: LANES }, () => args),
  }
}

/** True if {@link carryVoice} will encode the voice before the mux. */
export function isCarriedEncoded(
  profile: ContainerProfile,
  encoding: AudioEncoding,
  { format, sampleCount }: Pick<PcmStream, 'format' | 'sampleCount'>,
): boolean {
  return sampleCount !== null && isEncodedInTurns(encoding, profile, sampleCount / format.sampleRate)
}

/** Measures the encoders for {@link carryVoice} early: beside the cut it costs no time, before the mux it does. */
export async function measureEncoders(plan: MuxPlan): Promise<void> {
  await Promise.all(newStreams(plan).map(({ encoding, input }) => encoderPriming(encoding, pcmFormatFor(input))))
}

/** Previews the voice input and the extra commands, without the figures that only the voice itself can give. */
export function forecastVoice(
  { media, profile }: MuxPlan,
  stream: NewStream,
  sample: SampleType,
): { readonly voice: MuxInput; readonly commands: readonly FfmpegCommand[] } {
  const format = { ...pcmFormatFor(stream.input), sample }
  const voice = { stream, source: 'pipe:0', encoded: null, format, skipSamples: 0, delaySamples: 0 }
  if (!isEncodedInTurns(stream.encoding, profile, media.durationSec)) return { voice, commands: [] }
  const sampleCount = Math.round((media.durationSec ?? 0) * format.sampleRate)
  const command = turnsCommand('pipe:0', format, stream.encoding)
  return {
    voice: { ...voice, encoded: { sampleCount, primingSamples: AAC_FRAME_SAMPLES } },
    commands: Array.from({ length: LANES }, () => command),
  }
}
