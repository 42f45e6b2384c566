import type { Readable } from 'node:stream'
import { AAC_FRAME_SAMPLES } from './adts-frames.js'
import type { AudioEncoding } from './audio-encoding.js'
import type { ContainerProfile } from './container-profile.js'
import { encodeInTurns } from './encode-in-turns.js'
import { encoderPriming } from './encoder-priming.js'
import { isEncodedInTurns, LANES, turnsCommand } from './encoder-turns.js'
import { type FfmpegCommand, ffmpegArguments } from './ffmpeg.js'
import { type ReplacedStream, replacedStreams, type VoiceInput } from './mux-command.js'
import type { MuxPlan } from './mux-plan.js'
import { type PcmStream, pcmFormatFor, type SampleType } from './pcm.js'
import { slicePcm } from './pcm-streams.js'
import type { VoiceFeed } from './voice-feed.js'

/** A new voice on its way into the mux: the bytes that its input is to hold. */
export interface CarriedVoice extends Pick<VoiceInput, 'encoded'> {
  readonly bytes: Readable
  /** Exactly what other processes than the mux run with for it. */
  readonly runs: readonly (readonly string[])[]
}

export interface CarryOptions extends Pick<VoiceInput, 'skipSamples'> {
  readonly signal?: AbortSignal | undefined
}

/** Carries a voice as raw PCM, or, where that saves time, encodes it on the way. */
export async function carryVoice(
  { profile }: MuxPlan,
  { encoding }: ReplacedStream,
  feed: VoiceFeed,
  { skipSamples, signal }: CarryOptions,
): Promise<CarriedVoice> {
  const { stream } = feed
  const { format, sampleCount } = stream
  if (sampleCount === null || !isCarriedEncoded(profile, encoding, stream)) {
    return { encoded: null, bytes: feed.toReadable(), runs: [] }
  }
  const left = sampleCount - skipSamples
  const args = ffmpegArguments(turnsCommand('pipe:0', format, encoding))
  return {
    encoded: { sampleCount: left, primingSamples: await encoderPriming(encoding, format, signal) },
    bytes: encodeInTurns(slicePcm(stream, skipSamples, left), encoding, signal),
    runs: Array.from({ length: LANES }, () => args),
  }
}

/** Whether {@link carryVoice} will encode a voice on the way. */
export function isCarriedEncoded(
  profile: ContainerProfile,
  encoding: AudioEncoding,
  { format, sampleCount }: Pick<PcmStream, 'format' | 'sampleCount'>,
): boolean {
  return sampleCount !== null && isEncodedInTurns(encoding, profile, sampleCount / format.sampleRate)
}

/** Has measured what {@link carryVoice} will ask of the encoders: beside the cut it costs no time, before the mux it does. */
export async function measureEncoders(plan: MuxPlan): Promise<void> {
  await Promise.all(replacedStreams(plan).map(({ encoding, input }) => encoderPriming(encoding, pcmFormatFor(input))))
}

/** How a voice will be carried, and what else than the mux will run, with what only the voice itself tells left out. */
export function forecastVoice(
  { media, profile }: MuxPlan,
  stream: ReplacedStream,
  sample: SampleType,
): { readonly voice: VoiceInput; readonly commands: readonly FfmpegCommand[] } {
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
