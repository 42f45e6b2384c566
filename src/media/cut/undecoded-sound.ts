import { unreadable } from '../ffmpeg/ffmpeg-failure.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { lastPacketSec } from '../probe/sound-end.js'

/** Packets reach as many times further than the sound that ffmpeg decodes from them, if it cannot read most of them. */
const TIMES_LONGER = 2

/**
 * Refuses a track if ffmpeg decodes less than half of its packets. AAC and Speex in a WAV are examples, because it does
 * not find where each packet begins. A length counts for nothing: the last packet of a recording may state a long pause.
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
  const isShort = (sec: number) => sec > TIMES_LONGER * endSec
  const statedSec = stream.durationSec ?? media.durationSec ?? 0
  if (!isShort(statedSec)) return
  const packetsSec = (await lastPacketSec(media, stream, signal)) ?? statedSec
  if (!isShort(packetsSec)) return
  const { path } = media
  const [heard, held] = [endSec, packetsSec].map((sec) => sec.toFixed(2))
  throw unreadable(`ffmpeg decodes only ${heard} s of the ${held} s of audio track ${stream.audioIndex} of ${path}`, {
    input: path,
    remedies: ['Open it in the program that wrote it, and export the sound again as PCM or FLAC.'],
  })
}
