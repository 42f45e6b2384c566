import { VerificationError } from '../core/errors.js'
import type { AudioStreamInfo } from './media-info.js'
import type { CutSound } from './voice-cut.js'

/**
 * The filters that bring a service's answer to the cut's rate and channels: resampled back, a mono answer laid on
 * every channel at its own level, a wide answer to a mono cut averaged. What matches already passes bit-exactly.
 * Its samples count from the first one decoded: a service's own timestamps mean nothing, the lag is measured.
 *
 * @throws {VerificationError} `ERR_ANSWER_CHANNELS` where neither count is one and they differ
 */
export function conformFilters(cut: CutSound, answer: AudioStreamInfo, answerPath: string): readonly string[] {
  return [
    ...(answer.sampleRate === cut.sampleRate ? [] : [`aresample=${cut.sampleRate}`]),
    ...channelFilters(cut, answer.channels, answerPath),
  ]
}

function channelFilters(cut: CutSound, channels: number, answerPath: string): readonly string[] {
  if (channels === cut.channels) return []
  // ffmpeg's own up-mix would lower mono by 3 dB, its down-mix depends on the layout's name.
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
    `The service answered with ${channels} channels for a voice of ${cut.channels}.`,
    { input: answerPath, remedies: ['Send each channel by itself (--channels each), or the centre alone.'] },
  )
}
