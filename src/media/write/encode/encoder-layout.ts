import { defaultChannelLayout, type PcmFormat } from '../../pcm/pcm.js'
import { layoutFilters } from '../../pcm/raw-input.js'
import type { AudioEncoding } from './audio-encoding.js'

/** Codecs whose surround has one place behind the listener. AC-3 and DTS call theirs the sides. */
const ONE_SURROUND: ReadonlySet<string> = new Set(['aac', 'opus'])
const BEHIND: Readonly<Record<string, string>> = { '5.0(side)': '5.0', '5.1(side)': '5.1' }
/** The channel that ffmpeg must be fed in each place, so that libopus plays every channel in its own. Others are right. */
const OPUS_FEEDS: Readonly<Record<number, readonly number[]>> = { 5: [0, 1, 4, 2, 3], 7: [0, 1, 4, 3, 5, 2, 6] }

/**
 * Names the channels of raw audio for an encoder. AAC of ffmpeg describes the sides in its own header. Many players do not
 * read it, and a transport stream holds it only once. Opus of ffmpeg refuses the sides.
 *
 * The channels keep their order, unless the encoder exchanges them. Versions 5.1 to 9.0 of ffmpeg feed libopus those of
 * 5.0 and 6.1 in a wrong order. The centre would come out behind. Its decoder is right, as is opusenc.
 */
export function encoderLayoutFilters(
  { channels, channelLayout }: Pick<PcmFormat, 'channels' | 'channelLayout'>,
  { codec, encoder }: Pick<AudioEncoding, 'codec' | 'encoder'>,
): readonly string[] {
  const layout = (ONE_SURROUND.has(codec) ? BEHIND[channelLayout] : undefined) ?? channelLayout
  const feeds = encoder === 'libopus' ? OPUS_FEEDS[channels] : undefined
  if (!feeds) return layoutFilters({ channels, channelLayout: layout })
  const named = /^\d+ channels/.test(layout) ? defaultChannelLayout(channels) : layout
  return [`channelmap=map=${feeds.join('|')}:channel_layout=${named}`]
}
