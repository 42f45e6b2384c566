import { UsageError } from '../../core/errors.js'
import { type AudioStreamInfo, isSoundField, type MediaInfo } from '../../media/media-info.js'
import type { ChannelPick } from '../../media/voice-cut.js'
import type { ChannelsChoice } from '../../precheck/choices.js'

/** ffmpeg's layouts that begin with FL FR FC, so that the front centre is channel 2. */
const FRONT_CENTER = /^([3-7]\.[01]|hexagonal|octagonal|22\.2)/
/** Exceptions with similar names and no centre channel. */
const WITHOUT_CENTER = new Set(['3.0(back)', '6.0(front)', '6.1(front)'])

/**
 * Decides the voice files of a track.
 *
 * `auto` sends the track as it is. The pre-check decides if it has too many channels. Mono is one channel, however it
 * is asked for.
 *
 * @returns one pick per voice file
 * @throws {UsageError} `ERR_NO_CENTER` if the layout has no centre channel; `ERR_NO_DOWNMIX` if ffmpeg cannot mix it down
 */
export function pickChannels(media: MediaInfo, track: AudioStreamInfo, choice: ChannelsChoice): readonly ChannelPick[] {
  switch (choice) {
    case 'auto':
      return [{ kind: 'all' }]
    case 'center':
      return track.channels === 1 ? [{ kind: 'all' }] : [{ kind: 'one', channel: centerChannel(media, track) }]
    case 'each':
      // The pre-check refuses a track without a channel, but only if it is sent.
      if (track.channels < 2) return [{ kind: 'all' }]
      return Array.from({ length: track.channels }, (_, channel) => ({ kind: 'one' as const, channel }))
    case 'downmix':
      if (isSoundField(track)) throw noDownmix(media, track)
      return [track.channels > 2 ? { kind: 'downmix' } : { kind: 'all' }]
    default:
      return choice satisfies never
  }
}

function centerChannel(media: MediaInfo, track: AudioStreamInfo): number {
  const layout = track.channelLayout ?? ''
  if (FRONT_CENTER.test(layout) && !WITHOUT_CENTER.has(layout)) return 2
  throw new UsageError(
    'ERR_NO_CENTER',
    `Audio track ${track.audioIndex} of ${media.path} (${layout || `${track.channels} channels`}) has no centre channel.`,
    { input: media.path, remedies: [`Use --channels each${isSoundField(track) ? '' : ' or --channels downmix'}.`] },
  )
}

function noDownmix(media: MediaInfo, { audioIndex, channelLayout }: AudioStreamInfo): UsageError {
  return new UsageError(
    'ERR_NO_DOWNMIX',
    `Audio track ${audioIndex} of ${media.path} (${channelLayout}) is a sound field, which ffmpeg cannot mix down.`,
    { input: media.path, remedies: ['Use --channels each, or render it to stereo in your editor first.'] },
  )
}

/** Number of channels in a voice file of that pick. */
export function pickedChannels(pick: ChannelPick, track: AudioStreamInfo): number {
  return { all: track.channels, one: 1, downmix: 2 }[pick.kind]
}
