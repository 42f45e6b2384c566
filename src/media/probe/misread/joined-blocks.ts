import type { FileHandle } from 'node:fs/promises'
import { PrecheckError } from '../../../core/errors.js'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { afterId3 } from '../id3-length.js'

/** The first frames; an encoder joins as many blocks in each. */
const SEEN_BYTES = 64 * 1024
const HEAD_BYTES = 7

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
  return new PrecheckError(
    'ERR_UNSUPPORTED_CODEC',
    `The frames of ${path} hold several blocks of AAC each, and ffmpeg reads wrong times from them.`,
    {
      ...{ input: path, errorCode: -7, errorName: 'UnsupportedCodec' },
      remedies: ['Decode it first: `ffmpeg -i in.aac -af asetpts=N/SR/TB out.flac`.'],
    },
  )
}

/** True if the first frame that another one follows holds more than one block. */
function joinsBlocks(bytes: Buffer): boolean {
  for (let at = 0; at + HEAD_BYTES <= bytes.length; at++) {
    const length = frameLength(bytes, at)
    if (length > 0 && frameLength(bytes, at + length) > 0) return (bytes.readUInt8(at + 6) & 3) > 0
  }
  return false
}

/** Length in bytes of an ADTS frame from its header; 0 if there is none. */
function frameLength(bytes: Buffer, at: number): number {
  if (at + HEAD_BYTES > bytes.length || (bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return 0
  const length = (bytes.readUInt32BE(at + 3) >>> 13) & 0x1fff
  return length > HEAD_BYTES ? length : 0
}
