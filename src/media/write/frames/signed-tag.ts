import { open } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import { tagBlocks } from '../../probe/ends/tag-blocks.js'
import { malformedReason } from '../../probe/malformed-file.js'
import { SIGNS_OLD_BYTES } from '../census.js'
import type { MuxLoss } from '../remux/mux-losses.js'
import type { Structure } from '../structure/structure.js'
import { keepHead } from './kept-tags.js'

/** No program signs a file of very many tags. */
function none(error: unknown): readonly Structure[] {
  malformedReason(error)
  return []
}

/** The Content Credentials in the tag of an MP3 or FLAC, which ffmpeg does not carry. */
export async function signedTagLosses({ path, container, sizeBytes }: MediaInfo): Promise<readonly MuxLoss[]> {
  if (container !== 'mp3' && container !== 'flac') return []
  await using file = await open(path, 'r')
  const head = await tagBlocks(file, sizeBytes).then((found) => found.head, none)
  const { entries } = await keepHead(file, head)
  return entries
    .filter(({ reason }) => reason === SIGNS_OLD_BYTES)
    .map(({ path: what }) => ({ what, stream: null, reason: SIGNS_OLD_BYTES }))
}
