import { open } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import { fileBoxes } from '../../probe/movie/movie-boxes.js'

/** ISO base media and QuickTime, as {@link MediaInfo.container} names them. */
const MP4_FAMILY: readonly string[] = ['mp4', 'mov', 'm4v', 'm4a', '3gp', '3g2']

/** True if the index (moov) of an mp4 or mov precedes its data, so that it plays while it loads. */
export async function hasIndexFirst({ path, container, sizeBytes }: MediaInfo): Promise<boolean> {
  if (!MP4_FAMILY.includes(container)) return false
  await using file = await open(path, 'r')
  for await (const { type } of fileBoxes(file, sizeBytes)) {
    if (type === 'moov' || type === 'mdat') return type === 'moov'
  }
  return false
}
