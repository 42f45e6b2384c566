import type { FileHandle } from 'node:fs/promises'
import type { PrecheckError } from '../../../core/errors.js'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { refusedFile } from '../../refused-file.js'
import { adtsLength } from '../adts-length.js'
import { afterId3 } from '../id3-length.js'

/** The first frames; an encoder joins as many blocks in each. */
const SEEN_BYTES = 64 * 1024

/**
 * The refusal of an AAC file whose ADTS frames hold several blocks of samples each. Half of the sound would be
 * lost, because ffmpeg gives all blocks of a frame the time of one. Undefined for any other file.
 */
export async function joinedBlocks(
  path: string,
  { formatName, sizeBytes }: MediaInfo,
  file: FileHandle,
): Promise<PrecheckError | undefined> {
  if (formatName !== 'aac') return undefined
  if (!joinsBlocks(await readAt(file, await afterId3(file, sizeBytes), SEEN_BYTES))) return undefined
  const message = `The frames of ${path} hold several blocks of AAC each, and ffmpeg reads wrong times from them.`
  return refusedFile(-7, 'ERR_UNSUPPORTED_CODEC', message, {
    input: path,
    remedies: ['Decode it first: `ffmpeg -i in.aac -af asetpts=N/SR/TB out.flac`.'],
  })
}

/** True if the first frame that another one follows holds more than one block. */
function joinsBlocks(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at++) {
    const length = adtsLength(bytes, at)
    if (length > 0 && adtsLength(bytes, at + length) > 0) return (bytes.readUInt8(at + 6) & 3) > 0
  }
  return false
}
