import { z } from 'zod'
import { ffprobe } from '../ffmpeg/ffprobe.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media-info.js'

/** Codecs whose first frame primes the decoder, and that are stored without an edit list or a delay. */
const PRIMED = /^(wmav1|wmav2|wmapro|wmavoice)$/
/** The first frames, and those of the packets behind a block of Matroska, which usually holds eight. */
const SOME_PACKETS = 20
/** Times are rounded. Less than this is not an error. */
const LEAST_LATE_SEC = 0.003
/** More than this is neither priming nor rounding. */
const MOST_LATE_SEC = 0.1

const framesSchema = z.object({
  frames: z.array(
    z.object({
      pts_time: z.coerce.number().optional(),
      nb_samples: z.number(),
      pkt_pos: z.string().optional(),
    }),
  ),
})

/** A frame with a time. */
interface TimedFrame {
  readonly startSec: number
  readonly sampleCount: number
  /** Place of its packet, or of the block that holds it. */
  readonly pos: string | undefined
}

/**
 * Measures by how much ffmpeg places the first frame of a track too late. The first packet of Windows Media, and of Opus
 * in a transport stream, would begin before zero, so its time is zero. Packets of Vorbis in one block of Matroska get
 * equal shares of its time, although they are not equally long.
 */
export async function withLateFirstFrames(media: MediaInfo): Promise<MediaInfo> {
  const late = new Map<number, number>()
  for (const stream of audioStreams(media).filter((candidate) => mayBeLate(media, candidate))) {
    const sec = lateSec(await firstFrames(media, stream), stream)
    if (sec > LEAST_LATE_SEC && sec < MOST_LATE_SEC) late.set(stream.index, sec)
  }
  if (late.size === 0) return media
  const streams = media.streams.map((stream) => {
    const firstLateSec = late.get(stream.index)
    return stream.kind === 'audio' && firstLateSec !== undefined ? { ...stream, firstLateSec } : stream
  })
  return { ...media, streams }
}

function mayBeLate({ formatName, clockErrorSec }: MediaInfo, { codec }: AudioStreamInfo): boolean {
  const isShared = codec === 'vorbis' && clockErrorSec !== undefined && clockErrorSec > 0
  return isShared || PRIMED.test(codec ?? '') || (codec === 'opus' && formatName === 'mpegts')
}

async function firstFrames(media: MediaInfo, { index }: AudioStreamInfo): Promise<readonly TimedFrame[]> {
  const entries = 'frame=pts_time,nb_samples,pkt_pos'
  const show = ['-select_streams', `${index}`, '-read_intervals', `%+#${SOME_PACKETS}`, '-show_entries', entries]
  const { frames } = await ffprobe(media.path, show, framesSchema)
  return frames.flatMap(({ pts_time: startSec, nb_samples: sampleCount, pkt_pos: pos }) =>
    startSec === undefined ? [] : [{ startSec, sampleCount, pos }],
  )
}

/** Seconds by which the sound up to the first frame of the next block or packet reaches over its time. */
function lateSec(frames: readonly TimedFrame[], { sampleRate }: AudioStreamInfo): number {
  const [first] = frames
  const next = frames.findIndex(({ pos }) => pos !== first?.pos)
  const anchor = frames[next]
  if (!first || !anchor) return 0
  const sampleCount = frames.slice(0, next).reduce((sum, frame) => sum + frame.sampleCount, 0)
  return first.startSec + sampleCount / sampleRate - anchor.startSec
}
