import { defaultChannelLayout, type PcmFormat } from '../../pcm/pcm.js'
import type { AudioEncoding } from './audio-encoding.js'

/** The channel that ffmpeg must be fed in each place, so that libopus plays every channel in its own. Others are right. */
const OPUS_FEEDS: Readonly<Record<number, readonly number[]>> = { 5: [0, 1, 4, 2, 3], 7: [0, 1, 4, 3, 5, 2, 6] }

/**
 * Filters before an encoder that undo its own exchange of channels. Versions 5.1 to 9.0 of ffmpeg feed libopus the
 * channels of 5.0 and 6.1 in a wrong order. The centre would come out behind. Its decoder is right, as is opusenc.
 */
export function orderFilters(
  { encoder }: Pick<AudioEncoding, 'encoder'>,
  { channels, channelLayout }: Pick<PcmFormat, 'channels' | 'channelLayout'>,
): readonly string[] {
  const feeds = encoder === 'libopus' ? OPUS_FEEDS[channels] : undefined
  if (!feeds) return []
  const layout = /^\d+ channels/.test(channelLayout) ? defaultChannelLayout(channels) : channelLayout
  return [`channelmap=map=${feeds.join('|')}:channel_layout=${layout}`]
}
