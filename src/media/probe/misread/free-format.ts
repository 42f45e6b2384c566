import type { FileHandle } from 'node:fs/promises'
import type { PrecheckError } from '../../../core/errors.js'
import { readAt } from '../../../core/read-at.js'
import { audioStreams, type MediaInfo } from '../../media-info.js'
import { refusedFile } from '../../refused-file.js'
import { afterId3 } from '../id3-length.js'

/** Eleven set bits begin a frame of MPEG audio. */
const SYNC = 0xffe0

/**
 * The refusal of an MP3 in free format, whose frames state no bit rate. Such a frame does not tell its length, and
 * ffmpeg reads no sound from it. Undefined for any other file.
 */
export async function freeFormat(path: string, media: MediaInfo, file: FileHandle): Promise<PrecheckError | undefined> {
  if (media.formatName !== 'mp3' || audioStreams(media)[0]?.sampleRate !== 0) return undefined
  const head = await readAt(file, await afterId3(file, media.sizeBytes), 4)
  const hasRate = head.length < 4 || head.readUInt8(2) >> 4 !== 0
  if (hasRate || (head.readUInt16BE(0) & SYNC) !== SYNC) return undefined
  return refusedFile(-7, 'ERR_UNSUPPORTED_CODEC', `${path} is an MP3 in free format, which ffmpeg cannot decode.`, {
    input: path,
    remedies: ['Decode it first: `mpg123 -w out.wav in.mp3`.'],
  })
}
