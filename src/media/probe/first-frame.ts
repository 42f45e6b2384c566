import { firstFrames } from '../ffmpeg/ffprobe.js'
import { isCover, type MediaInfo } from '../media-info.js'

/** A page holds 255 packets at most. At 8 kHz they last 33 s, with the longest blocks that are in use. */
const LONGEST_PAGE_SEC = 40
/** The packets of priming, whose frames are dropped, and one more. */
const SOME_PACKETS = 8

/** ffmpeg decodes all samples of the last packet. */
const TO_THE_END: readonly string[] = ['-flags2', '+skip_manual']

/**
 * Starts the clock of a Vorbis file at its first sample. The first packet holds no sound. ffmpeg takes its length off
 * the clock. If the whole sound lies in one page, ffmpeg places it too late by that packet, and takes as much off its end.
 */
export async function onSound(media: MediaInfo): Promise<MediaInfo> {
  const [sound, other] = media.streams.filter(({ kind }) => kind === 'audio' || kind === 'video')
  if (sound?.codec !== 'vorbis' || other || (media.durationSec ?? 0) > LONGEST_PAGE_SEC) return media
  const startSec = await firstFrameSec(media, sound, 2)
  if (startSec <= media.startSec) return media
  return { ...beginning(media, sound, startSec), readOptions: [...(media.readOptions ?? []), ...TO_THE_END] }
}

/**
 * Starts the clock of Speex at its first sample, which is the priming and lies before zero. A Skeleton beside it states
 * zero, and ffmpeg believes that.
 */
export async function onPriming(media: MediaInfo): Promise<MediaInfo> {
  const [sound, other] = media.streams.filter(({ kind }) => kind === 'audio' || kind === 'video')
  if (sound?.codec !== 'speex' || other || sound.startSec !== 0) return media
  const startSec = await firstFrameSec(media, sound, 1)
  return startSec < 0 ? beginning(media, sound, startSec) : media
}

/**
 * Starts the clock of an M4A with HE-AAC at its first sound. The note `iTunSMPB` counts the priming before SBR
 * doubles its rate. ffmpeg drops the priming, but states half of it as the start. The rest would become silence.
 */
export async function behindPriming(media: MediaInfo): Promise<MediaInfo> {
  const [sound, other] = media.streams.filter((stream) => !isCover(stream))
  if (sound?.kind !== 'audio' || other || !sound.profile?.startsWith('HE-AAC') || !sound.startSec) return media
  const startSec = await firstFrameSec(media, sound, SOME_PACKETS)
  return startSec <= sound.startSec ? media : beginning(media, sound, startSec)
}

/** Starts the clock of FLAC without a header at its first frame. ffmpeg gives a time to other bytes before it, too. */
export async function behindJunk(media: MediaInfo): Promise<MediaInfo> {
  const [sound] = media.streams
  if (media.container !== 'flac' || !sound?.startSec || sound.startSec > 0) return media
  return beginning(media, sound, await firstFrameSec(media, sound, SOME_PACKETS))
}

type Stream = MediaInfo['streams'][number]

/** Time of the first frame that ffmpeg decodes of the first packets of a stream; 0 if none has a time. */
async function firstFrameSec({ path }: MediaInfo, { index }: Stream, packets: number): Promise<number> {
  const [first] = await firstFrames({ path }, index, packets)
  return first?.pts_time ?? 0
}

function beginning(media: MediaInfo, sound: Stream, startSec: number): MediaInfo {
  const streams = media.streams.map((stream) => (stream === sound ? { ...stream, startSec } : stream))
  return { ...media, startSec, streams }
}
