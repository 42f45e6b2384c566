import { audioStreams } from '../../media-info.js'
import { OPUS_RATE, preSkipOf } from '../splice/opus-samples.js'
import { blockSizes } from '../splice/vorbis-blocks.js'
import type { Wanted, WantedTrack } from '../writer.js'
import type { BlockList } from './read/block-list.js'
import type { MatroskaFile } from './read/matroska-file.js'
import type { TrackEntry } from './read/track-entry.js'
import { isLaced, xiphPackets } from './read/unlace.js'

/** Codecs that state their priming: Opus in its entry, and Vorbis as a first packet without sound. */
const SIGNALLED: ReadonlySet<string> = new Set(['opus', 'vorbis'])

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
  /** True if players skip the priming of the encoder. */
  readonly isPrimingSignalled: boolean
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
  const shownSec = firstSampleSec(track, blocks, tickSec)
  return {
    ...{ track, blocks, packetCount: input.packetCount ?? null },
    shownTick: shownSec / tickSec,
    skipSamples: Math.max(0, Math.round((shownSec - fileStartSec) * input.sampleRate)),
    isPrimingSignalled: SIGNALLED.has(encoding.codec) || (track.codecDelayNs > 0 && !encoding.lossless),
  }
}

function firstSampleSec(track: TrackEntry, blocks: BlockList, tickSec: number): number {
  const delaySec = track.codecDelayNs / 1e9
  const startSec = blocks.tick(0) * tickSec - delaySec
  if (track.codecId !== 'A_VORBIS') return startSec + (preSkipSec(track) ?? delaySec)
  // The first packet holds no sound. Its time differs: GStreamer writes that of the second packet.
  if (blocks.count > 1 && !isLaced(blocks)) return blocks.tick(1) * tickSec - delaySec
  const [id] = (track.codecPrivate && xiphPackets(track.codecPrivate)) || []
  return startSec + (id ? blockSizes(id).short / 2 / track.sampleRate : 0)
}

/** Priming that a decoder of Opus skips; null for another codec. */
function preSkipSec({ codecId, codecPrivate }: TrackEntry): number | null {
  const preSkip = codecId === 'A_OPUS' ? preSkipOf(codecPrivate) : null
  return preSkip === null ? null : preSkip / OPUS_RATE
}
