import { open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'

/** ISO base media and QuickTime, as {@link MediaInfo.container} names them. */
const MP4_FAMILY: readonly string[] = ['mp4', 'mov', 'm4v', 'm4a', '3gp', '3g2']

/** True if the index (moov) of an mp4 or mov precedes its data, so that it plays while it loads. */
export async function hasIndexFirst({ path, container, sizeBytes }: MediaInfo): Promise<boolean> {
  if (!MP4_FAMILY.includes(container)) return false
  await using file = await open(path, 'r')
  for (let at = 0; at + 8 <= sizeBytes; ) {
    const head = await readAt(file, at, 16)
    if (head.length < 16) return false
    const name = head.toString('latin1', 4, 8)
    if (name === 'moov') return true
    if (name === 'mdat') return false
    const short = head.readUInt32BE(0)
    const size = short === 1 ? Number(head.readBigUInt64BE(8)) : short
    if (size < 8) return false
    at += size
  }
  return false
}
