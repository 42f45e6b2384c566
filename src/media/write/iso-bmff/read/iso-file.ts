import { MalformedFile } from '../../../probe/malformed-file.js'
import { type Box, childAt } from '../../../probe/movie/box.js'
import { Fragments } from './fragments.js'
import { type GaplessInfo, readGaplessInfo } from './gapless-info.js'
import { type Movie, readMovie, type Track } from './movie.js'
import type { BoxStructure } from './read-structure.js'
import { durationOf, isFragmented, type OldTrack, oldTrackOf, readRuns, sampleChunksOf } from './voice-runs.js'

/** A parsed file of the ISO base media family. */
export interface IsoFile {
  readonly structure: BoxStructure
  readonly movie: Movie
  readonly fragments: Fragments
  /** Time of the first sample, as ffmpeg reads it. */
  readonly startSec: number
  /** Tracks with sound, by place in the movie. The packets of a picture would take more memory than all else. */
  readonly oldTracks: ReadonlyMap<number, OldTrack>
}

/** Reads the movie, fragments and places of packets. @param startSec of the first sample @throws MalformedFile */
export function readIsoFile(structure: BoxStructure, startSec: number): IsoFile {
  const movies = structure.boxes.filter(({ type }) => type === 'moov')
  const [moov] = movies as [Box | undefined]
  if (!moov) throw new MalformedFile('it has no index')
  if (movies.length > 1) throw new MalformedFile(`it has ${movies.length} indices`)
  if (childAt(moov, 'cmov')) throw new MalformedFile('its index is compressed')
  const movie = readMovie(moov)
  if (movie.timeScale === 0) throw new MalformedFile('its index states no time scale')
  const fragments = new Fragments(structure.boxes, movie)
  const gapless = readGaplessInfo(moov)
  const isSound = ({ handler }: Track) => handler === 'soun'
  const runs = readRuns(movie.tracks.filter(isSound), fragments)
  const oldTracks = movie.tracks.flatMap((track, place) => {
    const own = runs.get(track)
    if (!own) {
      requireTables(track)
      return []
    }
    const shown = gapless && gaplessPart(gapless, startSec * track.timeScale)
    return [[place, oldTrackOf(track, own, movie.timeScale, shown)] as const]
  })
  return { structure, movie, fragments, startSec, oldTracks: new Map(oldTracks) }
}

/**
 * The part that is presented, in ticks of its track. Null if ffmpeg presents the priming as silence, as with other tracks
 * in the file. HE-AAC is counted at the rate before SBR, which is half of that of some tracks.
 */
function gaplessPart({ leadTicks, ticks }: GaplessInfo, startTick: number): GaplessInfo | null {
  const scale = [1, 2].find((factor) => Math.abs(factor * leadTicks - startTick) < 1.5)
  return scale ? { leadTicks: scale * leadTicks, ticks: scale * ticks } : null
}

/** Reads the tables of a track without keeping them. Throws MalformedFile if they contradict each other. */
function requireTables(track: Track): void {
  for (const _ of sampleChunksOf(track));
}

/**
 * Duration of the movie in its ticks, if the headers of some tracks state it wrongly. Null if the header of
 * the movie stays.
 *
 * @param voices places of the tracks whose headers are rewritten
 */
export function newDuration({ movie, oldTracks }: IsoFile, voices: readonly number[]): number | null {
  const longest = Math.max(...movie.tracks.map(({ durationTicks }) => durationTicks))
  const durations = movie.tracks.map((track, place) => {
    const old = voices.includes(place) ? oldTracks.get(place) : undefined
    return old && !isFragmented(old) ? durationOf(old, movie.timeScale) : track.durationTicks
  })
  const ticks = Math.max(...durations)
  return movie.durationTicks === longest && ticks !== longest ? ticks : null
}
