import { open } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import { isMovie } from '../../probe/container-kind.js'
import { fileBoxes } from '../../probe/movie/movie-boxes.js'

/** True if the index (moov) of an mp4 or mov precedes its data, so that it plays while it loads. */
export async function hasIndexFirst(media: MediaInfo): Promise<boolean> {
  if (!isMovie(media)) return false
  const { path, sizeBytes } = media
  await using file = await open(path, 'r')
  for await (const { type } of fileBoxes(file, sizeBytes)) {
    if (type === 'moov' || type === 'mdat') return type === 'moov'
  }
  return false
}
