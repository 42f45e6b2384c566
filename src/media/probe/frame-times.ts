import { firstFrames } from '../ffmpeg/ffprobe.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media-info.js'

/** Codecs whose first frame primes the decoder, and that are stored without an edit list or a delay. */
const WINDOWS_MEDIA = /^(wmav1|wmav2|wmapro|wmavoice|wmalossless)$/
/** Its decoder returns a frame with the time of the packet behind it, which may be shorter. */
export const LATE_TIMES = 'wmalossless'
/** WAV and W64 state no times of packets. ffmpeg guesses them by the average bit rate, and nothing begins before zero. */
const WITHOUT_TIMES: ReadonlySet<string> = new Set(['wav', 'w64'])
/**
 * ffmpeg states the first short block of Vorbis after a long one too late, and writes that into Matroska and MP4. The
 * error is a quarter of the difference of their sizes: 20 ms at most in files of libvorbis. The samples follow each other
 * without a gap.
 */
export const VORBIS_JITTER_SEC = 0.025
/**
 * No packet of sound is longer. ffprobe states a day for the last one of Vorbis if all of it lies in one page. It
 * lasts less than nothing there, and the number wraps around.
 */
export const LONGEST_PACKET_SEC = 3600
/** The first frames, and those of the packets behind a block of Matroska, which usually holds eight. */
const SOME_PACKETS = 20
/** Times are rounded. Less than this is not an error. */
const LEAST_LATE_SEC = 0.003
/** More than this is neither priming nor rounding. */
const MOST_LATE_SEC = 0.1

type Frame = Awaited<ReturnType<typeof firstFrames>>[number]

/** The frames of a packet, or of the packets that share a block. */
interface Group {
  /** Time that ffmpeg states for its first frame. */
  readonly startSec: number | undefined
  /** Samples of the track before it. */
  readonly samplesBefore: number
  readonly sampleCount: number
}

type FrameTimes = Pick<AudioStreamInfo, 'firstFrames' | 'frameJitterSec'>

/**
 * Measures the times of frames that ffmpeg states wrongly. The first packet of Windows Media, and of Opus in a transport
 * stream, would begin before zero, so its time is zero. Packets of Vorbis in one block of Matroska get equal shares of
 * its time, although they are not equally long. Packets of Windows Media that hold several frames begin within a frame.
 * The rest of a frame at the start of a transport or program stream takes the time of the first whole one in AC-3.
 */
export async function withFrameTimes(media: MediaInfo): Promise<MediaInfo> {
  const times = new Map<number, FrameTimes>()
  for (const stream of audioStreams(media).filter((candidate) => isMisstated(media, candidate))) {
    times.set(stream.index, frameTimes(await firstGroups(media, stream), stream, media.formatName))
  }
  if (times.size === 0) return media
  return { ...media, streams: media.streams.map((stream) => ({ ...stream, ...times.get(stream.index) })) }
}

function isMisstated({ formatName, clockErrorSec }: MediaInfo, { codec, sampleRate }: AudioStreamInfo): boolean {
  const isShared = codec === 'vorbis' && clockErrorSec !== undefined && clockErrorSec > 0
  const isOpus = codec === 'opus' && formatName === 'mpegts'
  // A track without a rate has no packets yet. ffprobe would read the whole file for them.
  const isCut = sampleRate > 0 && mayBeginWithin(formatName, codec)
  return isShared || WINDOWS_MEDIA.test(codec ?? '') || isOpus || isCut
}

/** Containers whose packets may begin within a frame. */
const CUT_CONTAINERS: ReadonlySet<string> = new Set(['mpegts', 'mpeg'])

/** True if ffmpeg's parser returns the rest of a frame as a packet, with the time of the frame behind it. */
function mayBeginWithin(formatName: string, codec: string | null): boolean {
  return CUT_CONTAINERS.has(formatName) && (codec === 'ac3' || codec === 'eac3')
}

/** True if a frame begins before the end of the last one, because its packet states its time. */
function isBefore(frame: Frame, last: Frame | undefined, sampleRate: number): boolean {
  const endSec = (last?.pts_time ?? Number.NaN) + (last?.nb_samples ?? 0) / sampleRate
  return (frame.pts_time ?? Number.NaN) < endSec - LEAST_LATE_SEC
}

async function firstGroups(media: MediaInfo, stream: AudioStreamInfo): Promise<readonly Group[]> {
  const { index, codec, sampleRate } = stream
  const frames = await firstFrames({ path: media.path }, index, SOME_PACKETS)
  // Several packets of ASF share a place in the file, but each states a time for its first frame.
  const isNext = WINDOWS_MEDIA.test(codec ?? '')
    ? (frame: Frame) => frame.pts_time !== undefined
    : mayBeginWithin(media.formatName, codec)
      ? (frame: Frame, run: readonly Frame[]) => isBefore(frame, run.at(-1), sampleRate)
      : (frame: Frame, [first]: readonly Frame[]) => first?.pkt_pos !== frame.pkt_pos
  const runs: Frame[][] = []
  for (const frame of frames) {
    const last = runs.at(-1)
    if (last && !isNext(frame, last)) last.push(frame)
    else runs.push([frame])
  }
  let samplesBefore = 0
  return runs.map((run) => {
    const sampleCount = run.reduce((sum, frame) => sum + frame.nb_samples, 0)
    const group = { startSec: run[0]?.pts_time, samplesBefore, sampleCount }
    samplesBefore += sampleCount
    return group
  })
}

function frameTimes(groups: readonly Group[], stream: AudioStreamInfo, formatName: string): FrameTimes {
  const jitterSec = packetJitterSec(groups, stream)
  const startSec = WITHOUT_TIMES.has(formatName) ? stream.startSec : firstPlaysSec(groups, stream, jitterSec > 0)
  return {
    ...(startSec !== null && { firstFrames: { startSec, sampleCount: groups[0]?.sampleCount ?? 0 } }),
    ...(jitterSec > 0 && { frameJitterSec: jitterSec }),
  }
}

/** Time at which the first frame plays, if ffmpeg states another or none. The groups behind it tell. */
function firstPlaysSec(
  groups: readonly Group[],
  { codec, sampleRate, startSec }: AudioStreamInfo,
  hasJitter: boolean,
): number | null {
  if (codec === LATE_TIMES) return startSec
  const told = groups
    .slice(1)
    .flatMap((group) => (group.startSec === undefined ? [] : [group.startSec - group.samplesBefore / sampleRate]))
  // A packet begins with the rest of a frame whose start is in the one before. It is never stated too early.
  const playsSec = (hasJitter ? told.toSorted((a, b) => a - b) : told)[0]
  const statedSec = groups[0]?.startSec
  // Its packet has a time, but the decoder leaves out the frame that would state it.
  if (statedSec === undefined) return isNear(playsSec, startSec) ? playsSec : startSec
  if (playsSec === undefined) return null
  const lateSec = statedSec - playsSec
  return lateSec > LEAST_LATE_SEC && lateSec < MOST_LATE_SEC ? playsSec : null
}

function isNear(sec: number | undefined, startSec: number | null): sec is number {
  return sec !== undefined && Math.abs(sec - (startSec ?? 0)) < MOST_LATE_SEC
}

/**
 * Seconds by which a packet can be stated later than its first frame plays: less than a frame if it holds several. WMA
 * Lossless is always late.
 */
function packetJitterSec(groups: readonly Group[], { codec, sampleRate }: AudioStreamInfo): number {
  const frameSamples = windowsMediaFrame(sampleRate)
  // Behind the last packet, a decoder returns what it held back.
  const isLate = codec === LATE_TIMES || groups.slice(0, -1).some(({ sampleCount }) => sampleCount > frameSamples)
  return WINDOWS_MEDIA.test(codec ?? '') && isLate ? frameSamples / sampleRate : 0
}

/** Codecs whose times ffmpeg derives from their average size, by the container that has no times of its own. */
const GUESSED_TIMES: Readonly<Record<string, RegExp>> = {
  avi: /^(vorbis|speex|dts|eac3|adpcm_g72[26])$/,
  caf: /^flac$/,
  wav: /^(vorbis|wma)/,
  w64: /^(vorbis|wma)/,
}

/** True if a container and its codec state no times of packets, so that ffmpeg can only guess them. */
export function hasGuessedTimes(
  { formatName }: Pick<MediaInfo, 'formatName'>,
  { codec, channels }: Pick<AudioStreamInfo, 'codec' | 'channels'>,
): boolean {
  // Its extended header states a block size, by which ffmpeg counts the bytes of frames.
  if (formatName === 'avi' && codec === 'flac') return channels > 2
  return GUESSED_TIMES[formatName]?.test(codec ?? '') ?? false
}

/** Samples of a frame, as `ff_wma_get_frame_len_bits` of ffmpeg's `wma_common.c` counts them. */
export function windowsMediaFrame(sampleRate: number): number {
  if (sampleRate <= 16_000) return 512
  if (sampleRate <= 22_050) return 1024
  return sampleRate <= 48_000 ? 2048 : 4096
}
