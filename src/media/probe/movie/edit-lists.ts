import { PrecheckError } from '../../../core/errors.js'
import type { MediaInfo } from '../../media-info.js'
import { type Edit, hasHole, isOpen, NORMAL_RATE, shownEdits } from './edits.js'
import type { MovieTrack } from './movie-tracks.js'

/** How the edit lists of a movie are treated. */
export type EditLists =
  /**
   * Edits that ffmpeg plays: a late start, skipped priming, an early or missing end. `pictures` is the
   * reason why ffmpeg cannot copy another track.
   */
  | { readonly kind: 'plain'; readonly pictures?: string }
  /** Ignored, because the edits together play each track once, completely and without a break. */
  | { readonly kind: 'joined' }
  /** Refused, with the reason: the sound is not one piece. */
  | { readonly kind: 'complex'; readonly why: string }

/** Judges the edit lists of an mp4 or mov. Any other file has no tracks here, and is plain. */
export function editLists(tracks: readonly MovieTrack[]): EditLists {
  const why = firstComplexity(tracks.filter(isSound))
  if (why !== undefined) return { kind: 'complex', why }
  const pictures = firstComplexity(tracks.filter((track) => !isSound(track)))
  const joined = tracks.find(isJoined)
  if (!joined) return pictures === undefined ? { kind: 'plain' } : { kind: 'plain', pictures }
  // ffmpeg treats the lists of all tracks alike: it applies them or ignores them.
  if (pictures === undefined && tracks.every(isPlayedWhole)) return { kind: 'joined' }
  const count = shownEdits(joined.edits).length
  const parts = count === 1 ? 'plays a part without a stated length' : `is put together from ${count} parts`
  return tracks.some((track) => isSound(track) && isJoined(track))
    ? { kind: 'complex', why: parts }
    : { kind: 'plain', pictures: pictures ?? parts }
}

/** Requires that ffmpeg can copy the pictures of a file: edit lists. @throws {PrecheckError} `ERR_EDIT_LIST` */
export function requireCopyablePictures({ path, editedPictures }: Pick<MediaInfo, 'path' | 'editedPictures'>): void {
  if (editedPictures !== undefined) throw complexEdits(path, editedPictures)
}

/** The error for an edit list that cannot be kept. */
export function complexEdits(path: string, why: string): PrecheckError {
  return new PrecheckError('ERR_EDIT_LIST', `A track of ${path} ${why} (in its edit list), which voxmux cannot keep.`, {
    input: path,
    remedies: ['Export it again as a plain file, or flatten it first, for example with `ffmpeg -i in.mov flat.mov`.'],
  })
}

const isSound = ({ handler }: MovieTrack) => handler === 'soun'

/** True if ffmpeg plays the edits one by one, and one of no length, which lasts to the end, not at all. */
function isJoined({ edits, runs }: MovieTrack): boolean {
  return shownEdits(edits).length > 1 || (runs.length > 0 && isOpen(edits))
}

function firstComplexity(tracks: readonly MovieTrack[]): string | undefined {
  return tracks.map(complexity).find((found) => found !== undefined)
}

function complexity(track: MovieTrack): string | undefined {
  const shown = shownEdits(track.edits)
  const [first] = shown
  if (!first) return undefined
  if (shown.some(({ rate }) => rate !== NORMAL_RATE)) return 'plays a part at another speed'
  const from = track.edits.indexOf(first)
  if (from > 1 && track.hasFragments) return 'begins with several empty parts'
  if (hasHole(track.edits)) return 'has a hole in the middle'
  // ffmpeg plays the last packets again behind it.
  if (track.edits.length > from + shown.length) return 'ends with an empty part'
  const isWhole = shown.every((edit, place) => place === 0 || continues(track, shown[place - 1] as Edit, edit))
  if (!isWhole) return `is put together from ${shown.length} parts`
  if (track.handler === 'vide' && !isPictureStart(track, first.mediaTick)) return 'begins between two pictures'
  return undefined
}

/** True if an edit starts at the tick at which the previous one ends. */
function continues({ ticksPerSec, movieTicksPerSec }: MovieTrack, before: Edit, edit: Edit): boolean {
  return (edit.mediaTick - before.mediaTick) * movieTicksPerSec === before.duration * ticksPerSec
}

/** True if the track plays from its first sample to its last, within a tick of the movie. */
function isPlayedWhole(track: MovieTrack): boolean {
  const { edits, firstShift, runs, ticksPerSec, movieTicksPerSec } = track
  const shown = shownEdits(edits)
  const [first] = shown
  if (!first) return true
  const isFromStart = first.mediaTick <= (firstShift ?? 0)
  if (isOpen(edits) && shown.length === 1) return isFromStart || isSound(track)
  const playedSec = shown.reduce((sum, { duration }) => sum + duration, 0) / movieTicksPerSec
  const wholeSec = runs.reduce((sum, { count, ticks }) => sum + count * ticks, 0) / ticksPerSec
  return isFromStart && playedSec > wholeSec - 1.5 / movieTicksPerSec
}

/** If the cut is within a picture, ffmpeg shows the next one instead, up to a picture early. */
function isPictureStart(track: MovieTrack, mediaTick: number): boolean {
  const ticks = mediaTick - (track.firstShift ?? 0)
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
