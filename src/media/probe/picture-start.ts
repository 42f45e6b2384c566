import { z } from 'zod'
import { ffprobe } from '../ffmpeg/ffprobe.js'
import { type MediaInfo, pictureOf } from '../media-info.js'

const packetsSchema = z.object({ packets: z.array(z.object({ pts_time: z.string().optional() })).default([]) })

/** Pictures are not stored in display order. One that is shown before a position may be stored this long after it. */
const REORDER_SEC = 2

/**
 * Start of the picture that is shown at a position of a film; the position itself if no picture is shown.
 *
 * @param atSec from the file's start
 * @returns from the file's start, not after `atSec`
 * @throws as `ffprobe`
 */
export async function pictureStart(media: MediaInfo, atSec: number, signal?: AbortSignal): Promise<number> {
  const picture = pictureOf(media)
  if (!picture) return atSec
  const wantedSec = media.startSec + atSec
  // Starts at the key frame before the position, to which ffprobe seeks.
  const interval = `${wantedSec.toFixed(6)}%${(wantedSec + REORDER_SEC).toFixed(6)}`
  const args = ['-select_streams', String(picture.index), '-read_intervals', interval]
  const shown = ['-show_entries', 'packet=pts_time']
  const { packets } = await ffprobe(media.path, [...args, ...shown], packetsSchema, { signal })
  const starts = packets.map(({ pts_time }) => Number(pts_time)).filter((startSec) => startSec <= wantedSec + 1e-6)
  return starts.length > 0 ? Math.max(0, Math.max(...starts) - media.startSec) : atSec
}
