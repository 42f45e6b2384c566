import { z } from 'zod'
import { ffprobe } from '../../ffmpeg/ffprobe.js'
import type { MediaInfo } from '../../media-info.js'
import { LONGEST_PACKET_SEC } from '../frame-times.js'

/** Containers whose lengths ffmpeg counts from the times in them. */
const TRANSPORT: ReadonlySet<string> = new Set(['ts', 'm2ts'])
/** Above this length, no stream has all of its packets behind one time. */
const SHORT_SEC = 1

const packetsSchema = z.object({
  packets: z.array(
    z.object({
      stream_index: z.number(),
      pts_time: z.coerce.number().optional(),
      duration_time: z.coerce.number().optional(),
    }),
  ),
})

/** The latest end of the packets of each stream, by its index. @param select options that choose streams; all by default */
export async function packetEnds(
  { path, readOptions = [] }: MediaInfo,
  signal: AbortSignal | undefined,
  select: readonly string[] = [],
): Promise<ReadonlyMap<number, number>> {
  const show = [...select, '-show_entries', 'packet=stream_index,pts_time,duration_time']
  const { packets } = await ffprobe(path, [...readOptions, ...show], packetsSchema, { signal })
  const ends = new Map<number, number>()
  for (const { stream_index: index, pts_time: pts, duration_time: length = 0 } of packets) {
    if (pts === undefined || length > LONGEST_PACKET_SEC) continue
    ends.set(index, Math.max(ends.get(index) ?? pts, pts + length))
  }
  return ends
}

/**
 * Measures the lengths of a very short transport stream. Packets of sound that share one time count as one in the lengths
 * that ffprobe states.
 */
export async function withShortStreams(media: MediaInfo, signal: AbortSignal | undefined): Promise<MediaInfo> {
  const { container, durationSec, startSec } = media
  if (!TRANSPORT.has(container) || durationSec === null || durationSec >= SHORT_SEC) return media
  const ends = await packetEnds(media, signal)
  const streams = media.streams.map((stream) => {
    const end = ends.get(stream.index)
    return end === undefined || stream.startSec === null || stream.durationSec === null
      ? stream
      : { ...stream, durationSec: Math.max(stream.durationSec, end - stream.startSec) }
  })
  return { ...media, streams, durationSec: Math.max(durationSec, ...[...ends.values()].map((end) => end - startSec)) }
}
