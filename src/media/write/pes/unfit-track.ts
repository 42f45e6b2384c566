import type { MediaInfo } from '../../media-info.js'
import { codecChange } from '../encode/audio-encoding.js'
import type { WantedTrack } from '../writer.js'

/** The reason why new packets cannot take the places of a track's old ones, whatever they hold; undefined if they can. */
export function unfitTrack({ input, encoding, channels }: WantedTrack, media: MediaInfo): string | undefined {
  const change = codecChange(input, encoding)
  if (change !== null) return change
  if (channels !== input.channels) return 'the track gets another number of channels'
  if (media.streams.filter(({ id }) => id === input.id).length !== 1) return 'several streams have the same packets'
  return undefined
}
