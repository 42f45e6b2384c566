import { bodyOf, childAt, childBoxes } from '../../../probe/movie/box.js'
import type { Movie, Track } from './movie.js'

/**
 * The hint tracks of some tracks: instructions for streaming servers, which refer to packets by number and size
 * (ISO/IEC 14496-12, annex on hint track formats).
 *
 * @param hinted places of those tracks in the movie
 */
export function hintTracksOf({ tracks }: Movie, hinted: readonly number[]): readonly Track[] {
  const ids = new Set(hinted.map((place) => tracks[place]?.id))
  return tracks.filter(({ box }) => {
    return childBoxes(childAt(box, 'tref'), 'hint').some((reference) => {
      const body = bodyOf(reference)
      return Array.from({ length: body.length >> 2 }, (_, row) => body.readUInt32BE(4 * row)).some((id) => ids.has(id))
    })
  })
}
