import { UsageError } from '../../../core/errors.js'
import { lateSecOf } from '../../media-info.js'
import type { PcmStream } from '../../pcm/pcm.js'
import { writeBuffers } from '../../pcm/pcm-file.js'
import { isMatroska } from '../../probe/container-kind.js'
import { encoderPriming, matroskaPriming } from '../encode/encoder-priming.js'
import { roughened } from '../encode/roughened.js'
import { carryVoice, isCarriedEncoded } from './carried-voice.js'
import { latePictureSec } from './first-picture.js'
import { earlyPrimingSec } from './first-sound.js'
import type { MuxInput } from './mux-command.js'
import type { MuxPlan } from './mux-plan.js'
import { boundVoice, isBoundToPictures } from './picture-length.js'
import type { NewStream } from './plan-streams.js'
import { VoiceFeed } from './voice-feed.js'

/** A new voice as an input of the mux. */
export interface VoiceInput {
  readonly input: MuxInput
  readonly feed: VoiceFeed
  /** Exact arguments of the extra ffmpeg processes that encode it. */
  readonly runs: readonly (readonly string[])[]
}

/**
 * Makes a voice an input of the mux.
 *
 * @param spill path of a file to write it to; null if the mux reads it as a stream
 */
export async function makeVoiceInput(
  plan: MuxPlan,
  { stream, voice, feed }: ReturnType<typeof feedOf>,
  { spill, signal }: { readonly spill: string | null; readonly signal: AbortSignal | undefined },
): Promise<VoiceInput> {
  const timing = await voiceTiming(plan, stream, voice, signal)
  const { bytes, encoded, runs } = await carryVoice(plan, stream, feed, timing.skipSamples, signal)
  if (spill !== null) await writeBuffers(bytes, spill, signal)
  return { input: { stream, format: voice.format, source: spill ?? bytes, encoded, ...timing }, feed, runs }
}

/** Wraps the voice of a track to count it and to keep samples for the sync check. */
export function feedOf(plan: MuxPlan, stream: NewStream, voices: ReadonlyMap<number, PcmStream>) {
  const given = voices.get(stream.input.audioIndex)
  if (!given) {
    throw new UsageError('ERR_VOICE_MISSING', `No new voice was given for audio track ${stream.input.audioIndex}.`, {
      input: plan.media.path,
    })
  }
  const isBound = plan.writing.kind === 'remux' && isBoundToPictures(plan.profile, plan.media)
  const bound = isBound ? boundVoice(given, plan.media) : given
  const voice = stream.encoding.codec === 'aac' ? roughened(bound) : bound
  const { durationSec, startSec } = plan.media
  // Matroska counts its duration from zero, even if the first packet is later.
  const leadSec = isMatroska(plan.media) ? Math.max(0, startSec) : 0
  // The header of a live recording states no duration, and the sound of a film may end long before it.
  const expectedSec = stream.input.packetsEndSec ?? Math.max(0, (durationSec ?? 0) - leadSec)
  const expected = Math.round(expectedSec * voice.format.sampleRate)
  return { stream, voice, feed: new VoiceFeed(voice, expected) }
}

/** Computes the skip and the delay with which a player plays the voice at its place. */
async function voiceTiming(
  plan: MuxPlan,
  { encoding, input }: NewStream,
  voice: PcmStream,
  signal: AbortSignal | undefined,
): Promise<Pick<MuxInput, 'skipSamples' | 'delaySamples'>> {
  const { media, profile } = plan
  const { format } = voice
  const lateSec = startsAnywhere(plan) ? lateSecOf(media, input) : 0
  const early = Math.round((latePictureSec(plan) + earlyPrimingSec(plan)) * format.sampleRate)
  const late = Math.max(early, Math.round(lateSec * format.sampleRate))
  if (profile.priming === 'signalled' || encoding.lossless) return { skipSamples: late, delaySamples: 0 }
  // To the muxer, an encoded voice is a stream without priming.
  if (profile.priming === 'measured' && !isCarriedEncoded(profile, encoding, voice)) {
    const { isSignalled, shiftSamples } = await matroskaPriming(encoding, format, signal)
    if (isSignalled) return { skipSamples: late, delaySamples: shiftSamples }
    if (encoding.codec === 'opus') {
      // The track starts with its priming. The old priming is part of the voice, so the new one replaces it.
      const own = input.codec === 'opus' && isMatroska(media) ? await encoderPriming(encoding, format, signal) : 0
      return { skipSamples: late + own, delaySamples: shiftSamples }
    }
  }
  // The encoder's priming replaces the first few ms. A negative timestamp would make ffmpeg move everything else.
  return { skipSamples: Math.max(late, early + (await encoderPriming(encoding, format, signal))), delaySamples: 0 }
}

/** False if the output has no start time: a file of sound made of a film, or MXF. The silence before late sound is written. */
function startsAnywhere({ media, container, profile }: MuxPlan): boolean {
  if (isBoundToPictures(profile, media)) return false
  return media.container === container || !(profile.soundOnly || profile.muxer === 'ogg')
}
