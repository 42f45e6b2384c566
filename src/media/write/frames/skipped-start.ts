import { open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { PAGE_NAME } from '../../probe/ends/ogg-page.js'
import { isOgg } from '../../probe/file-tags.js'
import { afterId3 } from '../../probe/id3-length.js'
import type { MuxLoss } from '../remux/mux-losses.js'

/** A FLAC file begins with its name, or without a header, with the sync code of a frame. */
const FLAC_START = /^(fLaC|\xff[\xf8\xf9])/

/** Bytes before the first page of an Ogg file or the first frame of FLAC. ffmpeg skips them. */
export async function skippedStartLosses({ path, container, sizeBytes }: MediaInfo): Promise<readonly MuxLoss[]> {
  if (!isOgg(container) && container !== 'flac') return []
  await using file = await open(path, 'r')
  const start = (await readAt(file, await afterId3(file, sizeBytes), PAGE_NAME.length)).toString('latin1')
  if (isOgg(container) ? start === PAGE_NAME : FLAC_START.test(start)) return []
  return [{ what: 'bytes before the sound', stream: null, reason: 'ffmpeg skips them' }]
}
