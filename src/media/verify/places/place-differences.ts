import { open } from 'node:fs/promises'
import { audioStreams, type MediaInfo } from '../../media-info.js'
import { isMatroska, isMovie } from '../../probe/container-kind.js'
import { malformedReason } from '../../probe/malformed-file.js'
import { newStreams } from '../../write/remux/mux-command.js'
import type { MuxPlan } from '../../write/remux/mux-plan.js'
import { aviPlaces } from './avi-places.js'
import { chunkPlaces } from './chunk-places.js'
import { matroskaPlaces } from './matroska-places.js'
import { moviePlaces } from './movie-places.js'
import { misledIndices, type StatedPlace } from './stated-place.js'

/** Containers of chunks, beside AVI. */
const CHUNKED: ReadonlySet<string> = new Set(['wav', 'w64', 'aiff', 'caf'])

/**
 * Names the indices and sizes of a part file that lead elsewhere than those of the input. Players seek by them. Entries
 * that led nowhere in the input may do so again.
 */
export async function placeDifferences(plan: MuxPlan, output: MediaInfo): Promise<readonly string[]> {
  const { media, writing } = plan
  if (writing.kind === 'remux') return []
  const isAvi = media.container === 'avi'
  const isChunked = CHUNKED.has(media.container)
  if (!(isAvi || isChunked || isMatroska(media) || isMovie(media))) return []
  const sound = new Set(newStreams(plan).map(({ input }) => input.audioIndex))
  const ids = new Set(plan.streams.flatMap(({ fate, input }) => (fate === 'copied' ? [] : (input.id ?? []))))
  const places = async (read: MediaInfo): Promise<readonly StatedPlace[]> => {
    await using file = await open(read.path, 'r')
    try {
      if (isChunked) return await chunkPlaces(file, audioStreams(read)[0])
      if (isAvi) return [...(await aviPlaces(file, sound)), ...(await chunkPlaces(file))]
      return await (isMatroska(media) ? matroskaPlaces(file, sound) : moviePlaces(file, ids))
    } catch (error) {
      // A broken file lacks all of them.
      malformedReason(error)
      return []
    }
  }
  return misledIndices(await places(media), await places(output))
}
