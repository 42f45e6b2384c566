import { isOpen, shownEdits } from '../../../probe/movie/edits.js'
import { durationRuns, type SampleChunk, trackChunks } from '../../../probe/movie/sample-table.js'
import type { Fragments } from './fragments.js'
import type { GaplessInfo } from './gapless-info.js'
import type { Track } from './movie.js'
import { OldRuns } from './old-runs.js'
import { droppedPrimingSec, fixedFrames } from './sample-entry.js'

/** The packets of a track in the file. */
export interface OldTrack {
  readonly track: Track
  readonly runs: OldRuns
  /** Tick of the track that is presented first. */
  readonly shownTick: number
  /** Presented time in ticks of the track. */
  readonly shownTicks: number
}

/** The chunks of a track, with the sizes that old QuickTime sound really has. */
export function sampleChunksOf(track: Track): Generator<SampleChunk> {
  const [run, ...others] = durationRuns(track.stbl)
  const isCounted = track.handler === 'soun' && run?.ticks === 1 && others.length === 0
  return trackChunks(track.stbl, isCounted ? fixedFrames(track.entries[0]) : null)
}

/** Reads the runs of some tracks from index and fragments. The fragments are read once for all of them. */
export function readRuns(tracks: readonly Track[], fragments: Fragments): ReadonlyMap<Track, OldRuns> {
  const found = new Map(tracks.map((track) => [track, new OldRuns()]))
  const ofId = new Map<number, OldRuns[]>()
  for (const [track, runs] of found) {
    for (const chunk of sampleChunksOf(track)) runs.push(chunk)
    ofId.set(track.id, [...(ofId.get(track.id) ?? []), runs])
  }
  for (const fragment of fragments.of(ofId)) {
    for (const runs of ofId.get(fragment.trackId) ?? []) runs.pushFragment(fragment)
  }
  return found
}

/** Finds the part of a track that is presented. @param gapless what is presented without an edit list */
export function oldTrackOf(track: Track, runs: OldRuns, movieTimeScale: number, gapless: GaplessInfo | null): OldTrack {
  const { firstTick, endTick } = runs
  const shown = shownEdits(track.edits)
  if (shown.length === 0 && gapless) {
    const shownTick = firstTick + gapless.leadTicks
    return { track, runs, shownTick, shownTicks: Math.min(gapless.ticks, endTick - shownTick) }
  }
  // Elsewhere a new edit list hides the priming of the new packets, and the dropped one is silence before them.
  const dropped = runs.inFragments > 0 ? Math.round(droppedPrimingSec(track.entries[0]) * track.timeScale) : 0
  const shownTick = Math.max(firstTick + dropped, shown[0]?.mediaTick ?? 0)
  const editTicks = shown.reduce((sum, { duration }) => sum + duration, 0) * (track.timeScale / movieTimeScale)
  const restTicks = endTick - shownTick
  return {
    track,
    runs,
    shownTick,
    shownTicks: shown.length === 0 || isOpen(shown) ? restTicks : Math.min(Math.round(editTicks), restTicks),
  }
}

/** True if the packets of a track lie in fragments. */
export function isFragmented({ runs }: OldTrack): boolean {
  return runs.inFragments > 0
}

/** Time of a track's first presentation, on the movie's clock. */
export function presentedSec({ track, shownTick }: OldTrack, movieTimeScale: number): number {
  const [first] = shownEdits(track.edits)
  const lead = first ? track.edits.slice(0, track.edits.indexOf(first)) : []
  const emptySec = lead.reduce((sum, { duration }) => sum + duration, 0) / movieTimeScale
  return emptySec + (shownTick - (first?.mediaTick ?? 0)) / track.timeScale
}

/** No player distinguishes durations that are closer, so the header stays. */
const SAME_DURATION_SEC = 0.05

/** Duration of a track in ticks of the movie: from its header, unless packets and edits contradict it. */
export function durationOf({ track, shownTicks }: OldTrack, movieTimeScale: number): number {
  // Edits may play more than the packets hold; the new ones do not.
  const emptyTicks = track.edits.reduce((sum, { duration, mediaTick }) => sum + (mediaTick < 0 ? duration : 0), 0)
  const presented = emptyTicks + Math.round((shownTicks * movieTimeScale) / track.timeScale)
  const isSame = Math.abs(presented - track.durationTicks) / movieTimeScale < SAME_DURATION_SEC
  return isSame ? track.durationTicks : presented
}
