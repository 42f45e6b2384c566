import type { AudioStreamInfo } from '../../media-info.js'
import { type Box, bodyOf, childBoxes, endOf, withDescendants } from '../../probe/movie/box.js'
import { type Edit, hasHole, NORMAL_RATE, shownEdits } from '../../probe/movie/edits.js'
import { firstAtLeast } from '../first-at-least.js'
import { RunsInFileOrder } from '../runs-in-file-order.js'
import { isReadableItemTable } from './lay-out/item-offsets.js'
import { isIndexOfBoxes } from './lay-out/segment-index.js'
import { hintTracksOf } from './read/hint-tracks.js'
import type { IsoFile } from './read/iso-file.js'
import { liesHere, type Track } from './read/movie.js'
import { type OldTrack, sampleChunksOf } from './read/voice-runs.js'

/** Codec tags of encrypted audio. */
const ENCRYPTED: ReadonlySet<string> = new Set(['enca', 'drms', 'drmi', 'encv'])
/** Boxes with offsets or sizes of later bytes, in forms that voxmux does not write. */
const UNKNOWN_OFFSETS: ReadonlySet<string> = new Set(['ssix', 'afra', 'abst', 'rmra', 'mfri'])

/** Place of an ffprobe stream among the tracks of the movie; undefined if it cannot be identified. */
export function trackOf({ movie }: IsoFile, { index, audioIndex }: AudioStreamInfo): number | undefined {
  const isSound = (track: Track | undefined) => track?.handler === 'soun'
  if (isSound(movie.tracks[index])) return index
  const place = movie.tracks.findIndex((track) => {
    return isSound(track) && movie.tracks.filter(isSound).indexOf(track) === audioIndex
  })
  return place < 0 ? undefined : place
}

/** The reason why new packets cannot replace the old ones; undefined if they can. @param voices of the movie */
export function unfitIso(file: IsoFile, voices: readonly number[]): string | undefined {
  return (
    voices.map((voice) => unfitTrack(file, voice)).find((why) => why !== undefined) ??
    unfitFragments(file, voices) ??
    unfitStructure(file) ??
    sharedBytes(file, voices) ??
    unfitHints(file, voices)
  )
}

function unfitTrack(file: IsoFile, voice: number): string | undefined {
  const old = file.oldTracks.get(voice) as OldTrack
  const { track, runs } = old
  const [entry] = track.entries
  if (!entry || runs.count === 0) return 'the track lists no packets'
  if (track.timeScale === 0) return 'the track states no time scale'
  if (track.entries.some(({ format }) => ENCRYPTED.has(format))) return 'the track is encrypted'
  if (track.entries.some(({ bytes }) => !bytes.subarray(0, 36).equals(entry.bytes.subarray(0, 36)))) {
    return 'the codec settings of the track change in the middle'
  }
  if ((track.dataReferences[entry.dataReference - 1] ?? 'here') !== 'here')
    return 'the packets of the track lie in another file'
  if (runs.inFragments > 0 && runs.inIndex > 0 && track.edits.length > 0) {
    return 'the packets of the track lie partly in fragments, which its edit list does not count'
  }
  return unfitTables(track.stbl) ?? unfitEdits(track.edits, track.timeScale, file.movie.timeScale)
}

function unfitFragments({ movie, fragments }: IsoFile, voices: readonly number[]): string | undefined {
  for (const traf of fragments.boxesOf(new Set(voices.map((voice) => movie.tracks[voice]?.id)))) {
    const listed = unfitTables(traf)
    if (listed !== undefined) return listed
  }
  return undefined
}

/**
 * Returns the reason why audio with these edits cannot be replaced. New packets hold the presented audio, in order.
 * Undefined if it can.
 *
 * @param timeScale ticks per second of the track
 * @param movieTimeScale ticks per second of the movie
 */
function unfitEdits(edits: readonly Edit[], timeScale: number, movieTimeScale: number): string | undefined {
  const shown = shownEdits(edits)
  const [first] = shown
  if (edits.length > 0 && !first) return 'its edit list shows nothing'
  if (!first) return undefined
  if (shown.some(({ rate }) => rate !== NORMAL_RATE)) return 'its edit list plays a part at another speed'
  if (hasHole(edits)) return 'its edit list has a hole in the middle'
  const isOneRun = shown.every((edit, place) => {
    const before = shown[place - 1]
    if (!before) return true
    // Each edit continues at the end of the previous one, within a tick of the coarser clock.
    const offSec = (edit.mediaTick - before.mediaTick) / timeScale - before.duration / movieTimeScale
    return Math.abs(offSec) <= 1 / timeScale + 1 / movieTimeScale
  })
  return isOneRun ? undefined : `its edit list is put together from ${shown.length} parts`
}

/** @param box `stbl` or `traf` */
function unfitTables(box: Box | undefined): string | undefined {
  return childBoxes(box, 'saiz').some(isOfOtherKind) ? 'the packets of the track have auxiliary data' : undefined
}

const KEY_SCHEMES: ReadonlySet<string> = new Set(['cenc', 'cens', 'cbc1', 'cbcs', 'piff'])

/** True if auxiliary data states something else than how packets were encrypted. */
function isOfOtherKind(saiz: Box): boolean {
  const body = bodyOf(saiz)
  return ((body[3] ?? 0) & 1) === 1 && !KEY_SCHEMES.has(body.toString('latin1', 4, 8))
}

function unfitStructure({ structure, movie }: IsoFile): string | undefined {
  const starts = new Set([...structure.boxes.map(({ start }) => start), structure.boxesEnd])
  for (const top of structure.boxes) {
    if (top.type === 'sidx' && !isIndexOfBoxes(top, starts)) return 'a segment index does not fit the boxes of the file'
    for (const box of withDescendants(top)) {
      if (UNKNOWN_OFFSETS.has(box.type))
        return `the box ${box.type} states offsets in a form that voxmux cannot rewrite`
      if (box.type === 'iloc' && !isReadableItemTable(box)) return 'the table of items does not follow the standard'
      if (box.type === 'iloc' && top.type === 'moof') return 'a fragment has a table of items'
    }
  }
  const ids = new Set(movie.tracks.map(({ id }) => id))
  if (ids.size !== movie.tracks.length) return 'two tracks have the same number'
  // ffmpeg, which verifies the output, reads such a track from this file.
  if (movie.tracks.some(({ dataReferences }) => dataReferences.includes('address'))) {
    return 'the packets of a track lie at another address'
  }
  return undefined
}

/** Bytes that new packets replace. They must lie in media data and belong to no other track. */
function sharedBytes(
  { structure, movie, oldTracks, fragments }: IsoFile,
  voices: readonly number[],
): string | undefined {
  const runs = new RunsInFileOrder(voices.flatMap((voice) => oldTracks.get(voice)?.runs ?? []))
  const data = structure.boxes.filter(({ type }) => type === 'mdat')
  let box = 0
  let dataEnd = 0
  for (let row = 0; row < runs.count; row++) {
    const [start, end] = [runs.start(row), runs.end(row)]
    while (box < data.length && endOf(data[box] as Box) <= start) box += 1
    const around = data[box]
    if (!around || start < around.start + around.headerBytes || end > endOf(around)) {
      return `packets at byte ${start} do not lie in media data`
    }
    if (start < dataEnd) return `packets at byte ${start} overlap others of their track`
    dataEnd = end
  }
  const others = movie.tracks.filter((track, place) => !voices.includes(place) && liesHere(track))
  for (const { start, bytes } of rangesOf(others, fragments)) {
    const next = firstAtLeast(runs.count, runs.end, start + 1)
    if (bytes > 0 && next < runs.count && runs.start(next) < start + bytes) {
      return `the bytes from ${start} on belong to two tracks`
    }
  }
  return undefined
}

function* rangesOf(tracks: readonly Track[], fragments: IsoFile['fragments']) {
  for (const track of tracks) yield* sampleChunksOf(track)
  for (const { runs } of fragments.of(new Set(tracks.map(({ id }) => id)))) yield* runs
}

/** A hint track that refers to packets of a voice is left out. Its parts in fragments cannot be. */
function unfitHints({ movie, fragments }: IsoFile, voices: readonly number[]): string | undefined {
  const hints = new Set(hintTracksOf(movie, voices).map(({ id }) => id))
  const inFragments = hints.size > 0 && !fragments.boxesOf(hints).next().done
  return inFragments ? 'a hint track in fragments refers to the packets of the track' : undefined
}
