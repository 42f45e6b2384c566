import { VerificationError } from '../../core/errors.js'
import type { CutSound } from '../voice-cut.js'
import type { RegeneratedFacts } from './open-regenerated.js'

/**
 * The filters that convert regenerated audio to the cut's rate and channels. They resample it, copy mono to every
 * channel at its own level, or average several channels for a mono cut. Matching audio passes bit-exactly. Samples
 * count from the first decoded one: the service's timestamps are ignored, because the lag is measured.
 *
 * @throws {VerificationError} `ERR_ANSWER_CHANNELS` if the counts differ and neither is one
 */
export function conformFilters(cut: CutSound, regenerated: RegeneratedFacts, audioPath: string): readonly string[] {
  return [
    ...(regenerated.sampleRate === cut.sampleRate ? [] : [`aresample=${cut.sampleRate}`]),
    ...channelFilters(cut, regenerated.channels, audioPath),
  ]
}

function channelFilters(cut: CutSound, channels: number, audioPath: string): readonly string[] {
  if (channels === cut.channels) return []
  // ffmpeg's up-mix would lower mono by 3 dB, and its down-mix depends on the layout's name.
  const all = (count: number) => Array.from({ length: count }, (_, channel) => channel)
  if (channels === 1) {
    return [
      `pan=${cut.channels}c|${all(cut.channels)
        .map((channel) => `c${channel}=c0`)
        .join('|')}`,
    ]
  }
  if (cut.channels === 1) {
    return [
      `pan=mono|c0=${all(channels)
        .map((channel) => `${1 / channels}*c${channel}`)
        .join('+')}`,
    ]
  }
  throw new VerificationError(
    'ERR_ANSWER_CHANNELS',
    `The regenerated audio has ${channels} channels, and the voice has ${cut.channels}.`,
    {
      input: audioPath,
      remedies: ['Send each channel separately with --channels each, or only the centre with --channels center.'],
    },
  )
}
