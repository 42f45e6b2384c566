import { fileErrorInfo } from '../contract/file-error-codes.js'
import { PrecheckError, UsageError } from '../core/errors.js'
import type { AudioStreamInfo, MediaInfo } from '../media/media-info.js'
import type { ChannelPick } from '../media/voice-cut.js'

/** How the channels of a track become voice files, as typed with `--channels`. */
export const CHANNEL_CHOICES = ['auto', 'center', 'each', 'downmix'] as const
export type ChannelChoice = (typeof CHANNEL_CHOICES)[number]

/** Where ffmpeg's layouts with a front centre have it: FL FR FC …, except where listed. */
const CENTER_CHANNEL: Readonly<Record<string, number>> = { mono: 0, '3.0(back)': -1, quad: -1, stereo: -1 }

/**
 * Decides which voice files a track gives.
 *
 * @returns one pick a voice file to send
 * @throws {PrecheckError} -4 for more than two channels with `auto`
 * @throws {UsageError} `ERR_NO_CENTER` where the layout has no centre channel
 */
export function pickChannels(media: MediaInfo, track: AudioStreamInfo, choice: ChannelChoice): readonly ChannelPick[] {
  switch (choice) {
    case 'auto':
      if (track.channels > 2) throw multiChannel(media, track)
      return [{ kind: 'all' }]
    case 'center':
      return [{ kind: 'one', channel: centerChannel(media, track) }]
    case 'each':
      return Array.from({ length: track.channels }, (_, channel) => ({ kind: 'one' as const, channel }))
    case 'downmix':
      return [track.channels > 2 ? { kind: 'downmix' } : { kind: 'all' }]
    default:
      return choice satisfies never
  }
}

function centerChannel(media: MediaInfo, track: AudioStreamInfo): number {
  const layout = track.channelLayout ?? ''
  const channel = CENTER_CHANNEL[layout] ?? (track.channels >= 3 && /^(3|4|5|6|7)\./.test(layout) ? 2 : -1)
  if (channel >= 0) return channel
  throw new UsageError(
    'ERR_NO_CENTER',
    `Audio track ${track.audioIndex} of ${media.path} (${layout || `${track.channels} channels`}) has no centre channel.`,
    { input: media.path, remedies: ['Use --channels each, or --channels downmix.'] },
  )
}

function multiChannel(media: MediaInfo, track: AudioStreamInfo): PrecheckError {
  const { name, remedies } = fileErrorInfo(-4)
  const layout = track.channelLayout ? ` (${track.channelLayout})` : ''
  return new PrecheckError(
    'ERR_MULTI_CHANNEL',
    `Audio track ${track.audioIndex} of ${media.path} has ${track.channels} channels${layout}.`,
    { input: media.path, errorCode: -4, errorName: name, remedies },
  )
}
