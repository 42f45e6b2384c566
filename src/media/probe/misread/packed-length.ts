import { z } from 'zod'
import { ffprobe } from '../../ffmpeg/ffprobe.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media-info.js'

const packetsSchema = z.object({
  packets: z.array(z.object({ pts_time: z.coerce.number().optional(), duration_time: z.coerce.number().optional() })),
})

/** A stated length this many times too long cannot be the padding of a last packet. */
const TOO_LONG = 1.5

/**
 * Measures the sound of an AIFF whose header counts too much. That of packed sound, such as ADPCM, counts packets, but some
 * programs count samples. SoX cannot know the number of samples if it writes into a pipe. ffmpeg then states a length that
 * is many times too long.
 */
export async function withPackedLength(media: MediaInfo, signal: AbortSignal | undefined): Promise<MediaInfo> {
  const [track] = audioStreams(media)
  if (media.container !== 'aiff' || !track?.codec || fits(media, track)) return media
  const show = ['-select_streams', 'a:0', '-show_entries', 'packet=pts_time,duration_time']
  const { packets } = await ffprobe(media.path, [...(media.readOptions ?? []), ...show], packetsSchema, { signal })
  const durationSec = packets.reduce(
    (end, { pts_time: pts = 0, duration_time: length = 0 }) => Math.max(end, pts + length),
    0,
  )
  if (durationSec === 0 || media.durationSec === null || media.durationSec < TOO_LONG * durationSec) return media
  const streams = media.streams.map((stream) => (stream === track ? { ...track, durationSec } : stream))
  return { ...media, streams, durationSec }
}

/** True if a file is large enough for the length that is stated of its PCM. */
function fits({ sizeBytes, durationSec }: MediaInfo, { codec, sampleRate, channels, bitsPerSample }: AudioStreamInfo) {
  if (!codec?.startsWith('pcm_')) return false
  return (durationSec ?? 0) * sampleRate * channels * (bitsPerSample ?? 8) <= 8 * TOO_LONG * sizeBytes
}
