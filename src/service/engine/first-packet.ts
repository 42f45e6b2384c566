import {
  audioStreams,
  FILE_CLOCK_INPUT_OPTIONS,
  fileUrl,
  firstWrittenSec,
  type MediaInfo,
  pictureOf,
  safeInputOptions,
} from '../../media/index.js'

/**
 * Place of the first packet that a stream copy takes of the picture, or of the sound in a file without one. A picture
 * is copied from a key frame on. Some containers seek to the one before, and others to the next one.
 *
 * @param fromSec the time to which the copy seeks, from the file's start; null if it does not seek
 * @returns seconds from the file's start; null if no packet follows
 * @throws the typed errors of ffmpeg's runner
 */
export async function firstPacketSec(
  media: MediaInfo,
  fromSec: number | null,
  signal: AbortSignal,
): Promise<number | null> {
  const index = (pictureOf(media) ?? audioStreams(media)[0])?.index
  const seek = fromSec === null ? [] : ['-ss', fromSec.toFixed(6)]
  const inputs = [
    { url: fileUrl(media.path), options: [...safeInputOptions(media), ...FILE_CLOCK_INPUT_OPTIONS, ...seek] },
  ]
  const copied = ['-map', `0:${index}`, '-c', 'copy', '-frames', '1']
  const firstSec = await firstWrittenSec(inputs, copied, { signal, input: media.path })
  return firstSec === null ? null : firstSec - media.startSec
}
