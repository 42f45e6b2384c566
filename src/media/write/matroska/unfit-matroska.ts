import { ID } from '../../probe/matroska/ids.js'
import { childOf, childrenOf } from './read/element.js'
import { elementsIn, hasChecksum, type MatroskaFile } from './read/matroska-file.js'
import { clockSpeed } from './read/track-entry.js'
import type { VoiceTrack } from './voice-track.js'

/** A clock may go back by less than this. Blocks of one track are in order but for rounding. */
const MAX_BACK_SEC = 1

/** Coarser times would move new packets by more than verification allows. */
const MOST_TICK_NS = 1_000_000

/** Returns the reason why new packets cannot replace the old ones of some tracks; undefined if they can. */
export function unfitMatroska(file: MatroskaFile, voices: readonly VoiceTrack[]): string | undefined {
  return voices.map((voice) => unfitTrack(file, voice)).find((why) => why !== undefined) ?? unfitFile(file, voices)
}

function unfitTrack(file: MatroskaFile, { track, blocks, packetCount }: VoiceTrack): string | undefined {
  if (track.isEncrypted) return 'the track is encrypted'
  if (track.number === 0) return 'the track has no number'
  if (file.tracks.filter(({ number }) => number === track.number).length > 1) return 'two tracks have the same number'
  if (clockSpeed(track) !== 1) return 'the track has a clock of another speed'
  if (childOf(track.element, ID.TrackOperation)) return 'the track is combined from others'
  if (blocks.unfit) return blocks.unfit
  // Behind damaged bytes, old packets would stay beside the new ones.
  if (packetCount !== null && packetCount !== blocks.frameCount) {
    return `ffmpeg reads ${packetCount} packets, but its blocks hold ${blocks.frameCount}`
  }
  let latest = Number.NEGATIVE_INFINITY
  for (let block = 0; block < blocks.count; block++) {
    if (blocks.tick(block) < latest - (MAX_BACK_SEC * 1e9) / file.tickNs) return 'the clock of the track goes back'
    latest = Math.max(latest, blocks.tick(block))
  }
  return undefined
}

function unfitFile(file: MatroskaFile, voices: readonly VoiceTrack[]): string | undefined {
  if (file.tickNs > MOST_TICK_NS) return `its clock counts in steps of ${file.tickNs / 1e6} ms`
  if (hasChecksum(file)) return 'it has a checksum over the whole segment'
  const isSilent = (number: number) => voices.some(({ track }) => track.number === number)
  if (file.clusters.some(({ silentTracks }) => silentTracks.some(isSilent))) {
    return 'a cluster declares the track silent'
  }
  const positions = elementsIn(file, ID.Cues)
    .flatMap((cues) => childrenOf(cues, ID.CuePoint))
    .flatMap((point) => childrenOf(point, ID.CueTrackPositions))
  const isStrange = positions.some((position) => {
    const state = childOf(position, ID.CueCodecState)
    return childOf(position, ID.CueReference) || state?.body.some((byte) => byte !== 0)
  })
  return isStrange ? 'its cues refer to codec states or to other blocks' : undefined
}
