import { open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { SIGNS_OLD_BYTES } from '../census.js'
import type { MuxLoss } from '../remux/mux-losses.js'
import { keepId3 } from './id3-frames.js'
import { tagBlocks } from './tag-blocks.js'

/** The Content Credentials in the tag of an MP3 or FLAC, which ffmpeg does not carry. */
export async function signedTagLosses({ path, container, sizeBytes }: MediaInfo): Promise<readonly MuxLoss[]> {
  if (container !== 'mp3' && container !== 'flac') return []
  await using file = await open(path, 'r')
  const { head } = await tagBlocks(file, sizeBytes)
  const tags = await Promise.all(
    head.map(async ({ start, length }) => keepId3(await readAt(file, start, length), start)),
  )
  const signed = tags.flatMap(({ entries }) => entries.filter(({ reason }) => reason === SIGNS_OLD_BYTES))
  return signed.map(({ path: what, reason }) => ({ what, stream: null, reason: reason ?? '' }))
}
