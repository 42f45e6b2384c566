import type { MovieEdit, MovieTrack } from './movie-tracks.js'

/** How the edit lists of a movie are treated. */
export type EditLists =
  /** As in ffmpeg: a late start, a skipped lead-in, an early or missing end. */
  | { readonly kind: 'plain' }
  /** Ignored, because the edits together play each track once, completely and without a break. */
  | { readonly kind: 'joined' }
  /** Refused, with the reason: ffmpeg copies packets, which would then play differently. */
  | { readonly kind: 'complex'; readonly why: string }

/** Judges the edit lists of an mp4 or mov. Any other file has no tracks here, and is plain. */
export function editLists(tracks: readonly MovieTrack[]): EditLists {
  const why = tracks.map(complexity).find((found) => found !== undefined)
  if (why !== undefined) return { kind: 'complex', why }
  const joined = tracks.find(({ edits }) => shownEdits(edits).length > 1)
  if (!joined) return { kind: 'plain' }
  // ffmpeg treats the lists of all tracks alike: it applies them or ignores them.
  return tracks.every(isPlayedWhole)
    ? { kind: 'joined' }
    : { kind: 'complex', why: `is put together from ${joined.edits.length} parts` }
}

function complexity(track: MovieTrack): string | undefined {
  const shown = shownEdits(track.edits)
  const [first] = shown
  if (!first) return undefined
  if (shown.some(({ rate }) => rate !== 1)) return 'plays a part at another speed'
  const from = track.edits.indexOf(first)
  if (from > 1) return 'begins with several empty parts'
  if (track.edits.slice(from, from + shown.length).some(({ mediaTime }) => mediaTime < 0n)) {
    return 'has a hole in the middle'
  }
  const isWhole = shown.every((edit, place) => place === 0 || continues(track, shown[place - 1] as MovieEdit, edit))
  if (!isWhole) return `is put together from ${shown.length} parts`
  if (track.handler === 'vide' && !isPictureStart(track, first.mediaTime)) return 'begins between two pictures'
  return undefined
}

function shownEdits(edits: readonly MovieEdit[]): readonly MovieEdit[] {
  return edits.filter(({ mediaTime }) => mediaTime >= 0n)
}

/** True if an edit starts at the tick at which the previous one ends. */
function continues({ ticksPerSec, movieTicksPerSec }: MovieTrack, before: MovieEdit, edit: MovieEdit): boolean {
  return Number(edit.mediaTime - before.mediaTime) * movieTicksPerSec === Number(before.duration) * ticksPerSec
}

/** True if the track plays from its first sample to its last, within a tick of the movie. */
function isPlayedWhole({ edits, firstShift, runs, ticksPerSec, movieTicksPerSec }: MovieTrack): boolean {
  const shown = shownEdits(edits)
  if (shown.length === 0) return true
  const playedSec = shown.reduce((sum, { duration }) => sum + Number(duration), 0) / movieTicksPerSec
  const wholeSec = runs.reduce((sum, { count, ticks }) => sum + count * ticks, 0) / ticksPerSec
  return Number(shown[0]?.mediaTime) <= (firstShift ?? 0) && playedSec > wholeSec - 1.5 / movieTicksPerSec
}

/** If the cut is within a picture, ffmpeg shows the next one instead, up to a picture early. */
function isPictureStart(track: MovieTrack, mediaTime: bigint): boolean {
  const ticks = Number(mediaTime) - (track.firstShift ?? 0)
  if (ticks <= 0 || track.runs.length === 0) return true
  const [run] = track.runs
  // Reordered pictures of varying length have times of their own.
  if (track.firstShift !== null && new Set(track.runs.map((other) => other.ticks)).size > 1) return true
  return track.firstShift !== null && run ? ticks % run.ticks === 0 : isSampleStart(track, ticks)
}

/** True if a sample begins at that tick. */
function isSampleStart({ runs }: MovieTrack, wantedTicks: number): boolean {
  let ticks = 0
  for (const run of runs) {
    const runTicks = run.count * run.ticks
    if (wantedTicks < ticks + runTicks) return (wantedTicks - ticks) % run.ticks === 0
    ticks += runTicks
  }
  return false
}
