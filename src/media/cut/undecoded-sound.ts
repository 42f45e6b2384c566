import { unreadable } from '../ffmpeg/ffmpeg-failure.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { soundEndSec } from '../probe/sound-end.js'

/** Packets last as many times longer than the sound that ffmpeg decodes from them, if it cannot read most of them. */
const TIMES_LONGER = 2

/**
 * Refuses a track if ffmpeg decodes less than half of its packets. AAC and Speex in a WAV are examples, because it does
 * not find where each packet begins.
 *
 * @param endSec end of the decoded sound on the file's clock
 * @throws PrecheckError ERR_UNREADABLE
 */
export async function requireMostOfSound(
  media: MediaInfo,
  stream: AudioStreamInfo,
  endSec: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isShort = (sec: number | null) => sec !== null && sec > TIMES_LONGER * endSec
  if (!isShort(stream.durationSec ?? media.durationSec)) return
  const packetsSec = await soundEndSec(media, stream, signal)
  if (packetsSec === null || !isShort(packetsSec)) return
  const { path } = media
  const [heard, held] = [endSec, packetsSec].map((sec) => sec.toFixed(2))
  throw unreadable(`ffmpeg decodes only ${heard} s of the ${held} s of audio track ${stream.audioIndex} of ${path}`, {
    input: path,
    remedies: ['Open it in the program that wrote it, export the sound again as PCM or FLAC.'],
  })
}
