import { open } from 'node:fs/promises'
import { isMatroska, isMovie } from '../../probe/container-kind.js'
import { malformedReason } from '../../probe/malformed-file.js'
import { newStreams } from '../../write/remux/mux-command.js'
import type { MuxPlan } from '../../write/remux/mux-plan.js'
import { aviPlaces } from './avi-places.js'
import { matroskaPlaces } from './matroska-places.js'
import { moviePlaces } from './movie-places.js'
import { misledIndices, type StatedPlace } from './stated-place.js'

/**
 * Names the indices of a part file that lead elsewhere than those of the input. Players seek by them. Entries that led
 * nowhere in the input may do so again.
 */
export async function placeDifferences(plan: MuxPlan, partPath: string): Promise<readonly string[]> {
  const { media, writing } = plan
  if (writing.kind === 'remux') return []
  const isAvi = media.container === 'avi'
  if (!(isAvi || isMatroska(media) || isMovie(media))) return []
  const sound = new Set(newStreams(plan).map(({ input }) => input.audioIndex))
  const ids = new Set(plan.streams.flatMap(({ fate, input }) => (fate === 'copied' ? [] : (input.id ?? []))))
  const places = async (path: string): Promise<readonly StatedPlace[]> => {
    await using file = await open(path, 'r')
    try {
      if (isAvi) return await aviPlaces(file, sound)
      return await (isMatroska(media) ? matroskaPlaces(file, sound) : moviePlaces(file, ids))
    } catch (error) {
      // A broken file lacks all of them.
      malformedReason(error)
      return []
    }
  }
  return misledIndices(await places(media.path), await places(partPath))
}
