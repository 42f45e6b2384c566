import { z } from 'zod'
import { ffprobe } from '../ffmpeg/ffprobe.js'
import type { MediaInfo } from '../media-info.js'

/** A page holds 255 packets at most. At 8 kHz they last 33 s, with the longest blocks that are in use. */
const LONGEST_PAGE_SEC = 40

/** ffmpeg decodes all samples of the last packet. */
const TO_THE_END: readonly string[] = ['-flags2', '+skip_manual']

const framesSchema = z.object({ frames: z.array(z.object({ pts_time: z.coerce.number().optional() })) })

/**
 * Starts the clock of a Vorbis file at its first sample. The first packet holds no sound. ffmpeg takes its length off
 * the clock. If the whole sound lies in one page, ffmpeg places it too late by that packet, and takes as much off its end.
 */
export async function onSound(media: MediaInfo): Promise<MediaInfo> {
  const [sound, other] = media.streams.filter(({ kind }) => kind === 'audio' || kind === 'video')
  if (sound?.codec !== 'vorbis' || other || (media.durationSec ?? 0) > LONGEST_PAGE_SEC) return media
  const show = ['-select_streams', `${sound.index}`, '-read_intervals', '%+#2', '-show_entries', 'frame=pts_time']
  const [first] = (await ffprobe(media.path, show, framesSchema)).frames
  const startSec = first?.pts_time ?? 0
  if (startSec <= media.startSec) return media
  const streams = media.streams.map((stream) => (stream === sound ? { ...stream, startSec } : stream))
  return { ...media, startSec, streams, readOptions: [...(media.readOptions ?? []), ...TO_THE_END] }
}
