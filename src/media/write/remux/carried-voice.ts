import type { FfmpegCommand } from '../../ffmpeg/ffmpeg.js'
import { type PcmStream, pcmFormatFor, type SampleType } from '../../pcm/pcm.js'
import type { ContainerProfile } from '../container-profile.js'
import { AAC_FRAME_SAMPLES } from '../encode/adts-frames.js'
import type { AudioEncoding } from '../encode/audio-encoding.js'
import { encodedBeforeMux } from '../encode/encode-in-turns.js'
import { encoderPriming } from '../encode/encoder-priming.js'
import { isEncodedInTurns, turnsCommands } from '../encode/encoder-turns.js'
import { type MuxInput, newStreams } from './mux-command.js'
import type { MuxPlan } from './mux-plan.js'
import type { NewStream } from './plan-streams.js'
import type { VoiceFeed } from './voice-feed.js'

/** Feeds a voice as raw PCM, or encodes it in parallel if that saves time. */
export async function carryVoice(
  { profile }: MuxPlan,
  { encoding }: NewStream,
  { stream }: VoiceFeed,
  skipSamples: number,
  signal: AbortSignal | undefined,
) {
  const { sampleCount } = stream
  if (sampleCount === null || !isCarriedEncoded(profile, encoding, stream)) {
    return { encoded: null, bytes: stream.buffers(), runs: [] }
  }
  return encodedBeforeMux(stream, { skipSamples, sampleCount: sampleCount - skipSamples }, encoding, signal)
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
  const encoded = { sampleCount, primingSamples: AAC_FRAME_SAMPLES }
  return { voice: { ...voice, encoded }, commands: turnsCommands(format, stream.encoding) }
}
