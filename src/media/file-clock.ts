import type { ChannelPick } from './voice-cut.js'

/** A part of a track on the file's clock; without an end, to the track's end as decoded. */
export interface ClockRange {
  readonly startSample: number
  readonly endSample: number | null
}

/**
 * The audio filters that put a decoded track on its file's own clock: sample N is what a player shows at N / rate
 * seconds. Cut and decode share them, so that a voice goes back exactly where it was taken from. Bit-exact for
 * every sample type (`all` and `one`).
 *
 * @param range counted in samples at the track's own rate; omitted: the whole track
 */
export function fileClockFilters(channels: ChannelPick, range?: ClockRange): readonly string[] {
  return [
    // A late start and gaps become silence, what lies before zero goes. Without min_hard_comp gaps under 100 ms stay
    // open; at 1 ms and more the clock is followed, below that the timestamps of ms containers only jitter.
    'aresample=async=1:min_hard_comp=0.001:first_pts=0',
    ...channelFilters(channels),
    ...(range ? rangeFilters(range) : []),
  ]
}

function channelFilters(channels: ChannelPick): readonly string[] {
  switch (channels.kind) {
    case 'all':
      return []
    case 'one':
      // Moves pointers, computes nothing: `pan` would go through a gain matrix.
      return [`channelmap=map=${channels.channel}:channel_layout=mono`]
    case 'downmix':
      return ['aformat=channel_layouts=stereo']
    default:
      return channels satisfies never
  }
}

function rangeFilters({ startSample, endSample }: ClockRange): readonly string[] {
  if (startSample === 0 && endSample === null) return []
  const end = endSample === null ? '' : `:end_sample=${endSample}`
  return [
    `atrim=start_sample=${startSample}${end}`,
    'asetpts=PTS-STARTPTS',
    // A track that ends inside the part is filled up: every cut has the length that was asked for.
    ...(endSample === null ? [] : [`apad=whole_len=${endSample - startSample}`]),
  ]
}
