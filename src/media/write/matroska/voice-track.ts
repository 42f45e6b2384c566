import { audioStreams } from '../../media-info.js'
import { OPUS_RATE, preSkipOf } from '../splice/opus-samples.js'
import type { Wanted, WantedTrack } from '../writer.js'
import type { BlockList } from './read/block-list.js'
import type { MatroskaFile } from './read/matroska-file.js'
import type { TrackEntry } from './read/track-entry.js'

/** A track of a file whose blocks are replaced. */
export interface VoiceTrack {
  readonly track: TrackEntry
  readonly blocks: BlockList
  /** Number of packets that ffmpeg reads; null if they were not read. */
  readonly packetCount: number | null
  /** Time of its first sample that is shown, in ticks of the segment. */
  readonly shownTick: number
  /** Samples of the new voice before that one. */
  readonly skipSamples: number
  /** True if the entry states the lead-in of the encoder, so that players skip it. */
  readonly isLeadInSignalled: boolean
}

/** Tracks of a request in its order; undefined if one of them cannot be identified, or has no packets. */
export function voicesOf(file: MatroskaFile, { media, tracks }: Wanted): readonly VoiceTrack[] | undefined {
  const audio = file.tracks.filter(({ isAudio }) => isAudio)
  // ffmpeg leaves out tracks that it cannot read. The others would then be counted wrongly.
  if (audio.length !== audioStreams(media).length) return undefined
  const voices = tracks.flatMap((wanted) => {
    const track = audio[wanted.input.audioIndex]
    const blocks = track && file.blocks.get(track.number)
    return track && blocks ? [voiceOf({ track, blocks }, wanted, file.tickNs / 1e9, media.startSec)] : []
  })
  return voices.length === tracks.length ? voices : undefined
}

function voiceOf(
  { track, blocks }: Pick<VoiceTrack, 'track' | 'blocks'>,
  { input, encoding }: WantedTrack,
  tickSec: number,
  fileStartSec: number,
): VoiceTrack {
  const delaySec = track.codecDelayNs / 1e9
  const shownSec = blocks.tick(0) * tickSec - delaySec + (preSkipSec(track) ?? delaySec)
  return {
    ...{ track, blocks, packetCount: input.packetCount ?? null },
    shownTick: shownSec / tickSec,
    skipSamples: Math.max(0, Math.round((shownSec - fileStartSec) * input.sampleRate)),
    isLeadInSignalled: encoding.codec === 'opus' || (track.codecDelayNs > 0 && !encoding.lossless),
  }
}

/** Lead-in that a decoder of Opus skips; null for another codec. */
function preSkipSec({ codecId, codecPrivate }: TrackEntry): number | null {
  const preSkip = codecId === 'A_OPUS' ? preSkipOf(codecPrivate) : null
  return preSkip === null ? null : preSkip / OPUS_RATE
}
