import { z } from 'zod'
import { ffprobe } from '../ffmpeg/ffprobe.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media-info.js'

/** Codecs whose first frame primes the decoder, and that are stored without an edit list or a delay. */
const PRIMED = /^(wmav1|wmav2|wmapro|wmavoice)$/
/** Packets in front of the first frame. */
const MOST_SILENT_PACKETS = 4
/** Times are rounded. Less than this is not an overlap. */
const LEAST_OVERLAP_SEC = 0.003
/** More than this is not priming. */
const MOST_OVERLAP_SEC = 0.1

const framesSchema = z.object({
  frames: z.array(z.object({ pts_time: z.coerce.number().optional(), nb_samples: z.number() })),
})

/**
 * Measures how much later than it plays ffmpeg places the first frame of Windows Media sound, and of Opus in a
 * transport stream. Their first packet would begin before zero, so it is said to begin at zero, and its sound reaches
 * into the second packet.
 */
export async function withPrimedStarts(media: MediaInfo): Promise<MediaInfo> {
  const late = new Map<number, number>()
  for (const stream of audioStreams(media).filter((candidate) => isPrimed(media, candidate))) {
    const sec = await overlapSec(media, stream)
    if (sec > LEAST_OVERLAP_SEC && sec < MOST_OVERLAP_SEC) late.set(stream.index, sec)
  }
  if (late.size === 0) return media
  const streams = media.streams.map((stream) => {
    const firstLateSec = late.get(stream.index)
    return stream.kind === 'audio' && firstLateSec !== undefined ? { ...stream, firstLateSec } : stream
  })
  return { ...media, streams }
}

function isPrimed({ formatName }: MediaInfo, { codec }: AudioStreamInfo): boolean {
  return PRIMED.test(codec ?? '') || (codec === 'opus' && formatName === 'mpegts')
}

/** Seconds of sound of the first frame at and after the time of the second; 0 if a time is missing. */
async function overlapSec(media: MediaInfo, { index, sampleRate }: AudioStreamInfo): Promise<number> {
  const some = `%+#${MOST_SILENT_PACKETS + 2}`
  const show = ['-select_streams', `${index}`, '-read_intervals', some, '-show_entries', 'frame=pts_time,nb_samples']
  const { frames } = await ffprobe(media.path, show, framesSchema)
  const [first, second] = frames.flatMap(({ pts_time: sec, nb_samples: count }) =>
    sec === undefined ? [] : [{ startSec: sec, endSec: sec + count / sampleRate }],
  )
  return first && second ? first.endSec - second.startSec : 0
}
