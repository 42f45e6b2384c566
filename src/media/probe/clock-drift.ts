import { open } from 'node:fs/promises'
import { firstFrames } from '../ffmpeg/ffprobe.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { isLossless } from './media-info-of.js'
import { type MovieTrack, movieTracks } from './movie/movie-tracks.js'

/** A step longer than this is a gap, not a drift: packets are missing. Those of AAC, Opus and MP3 last twice as long. */
export const DRIFT_STEP_SEC = 0.0115
/** Sound must be moved if exact times leave its samples by more than this. */
const EXACT_SEC = 0.0012
/** The lengths of frames are multiples of this in every common codec. */
const USUAL_MULTIPLE = 8
/** The first packet and the last may be shorter. */
const ODD_PACKETS = 2
/** Frames that state how much sound a packet holds. */
const SOME_FRAMES = 4
/** Containers whose times are counted from samples or bytes. */
const COUNTED_CLOCKS: ReadonlySet<string> = new Set(['avi', 'ogg', 'opus', 'mpg', 'wav', 'mp3', 'aac', 'flac'])

/** Adds up by how much packets last longer than the sound in them, in their order. */
export class DriftTally {
  readonly #frameSec: number
  #offsetSec = 0
  #leastSec = 0
  #mostSec = 0

  /** @param frameSec length of the sound in each packet */
  constructor(frameSec: number) {
    this.#frameSec = frameSec
  }

  /** @param sec from the start of a packet to that of the next one */
  take(sec: number, count = 1): void {
    const lateSec = sec - this.#frameSec
    // There is a gap behind it, or it is not a packet.
    if (Math.abs(lateSec) > Math.min(DRIFT_STEP_SEC, this.#frameSec / 2)) return
    this.#offsetSec += count * lateSec
    this.#leastSec = Math.min(this.#leastSec, this.#offsetSec)
    this.#mostSec = Math.max(this.#mostSec, this.#offsetSec)
  }

  /** Seconds between the earliest and the latest time, against the samples. */
  get widthSec(): number {
    return this.#mostSec - this.#leastSec
  }
}

/** True if a track is lossy, all its packets hold as many samples, and their times may come from another clock. */
export function mayDrift(
  { container }: MediaInfo,
  { codec, isEncrypted, frameJitterSec, firstFrames }: AudioStreamInfo,
): boolean {
  const isUneven = codec === 'vorbis' || frameJitterSec !== undefined || firstFrames !== undefined
  return !COUNTED_CLOCKS.has(container) && codec !== null && !isLossless(codec) && !isEncrypted && !isUneven
}

/** Length of the sound in a packet of a track in which all are equal, as decoded. */
export async function frameSecOf(
  { path, readOptions = [] }: MediaInfo,
  { index, sampleRate }: AudioStreamInfo,
): Promise<number> {
  const frames = await firstFrames({ path, readOptions }, index, SOME_FRAMES)
  return Math.max(0, ...frames.map(({ nb_samples }) => nb_samples)) / sampleRate
}

/**
 * True if the index of an mp4 or mov states times that move away from the samples of a track. Telephones write such
 * files.
 */
export async function indexDrifts(media: MediaInfo, stream: AudioStreamInfo): Promise<boolean> {
  const track = await movieTrack(media, stream)
  if (!track || !hasUnusualTimes(track, stream)) return false
  const tally = new DriftTally(await frameSecOf(media, stream))
  for (const { ticks, count } of track.runs) tally.take(ticks / track.ticksPerSec, count)
  return tally.widthSec > EXACT_SEC
}

async function movieTrack({ path, sizeBytes }: MediaInfo, { id }: AudioStreamInfo): Promise<MovieTrack | undefined> {
  await using file = await open(path, 'r')
  return (await movieTracks(file, sizeBytes)).find((track) => track.id === id && track.handler === 'soun')
}

/** True if some packets have no usual length. */
function hasUnusualTimes({ runs, ticksPerSec }: MovieTrack, { sampleRate }: AudioStreamInfo): boolean {
  const unusual = runs.filter(({ ticks }) => ((ticks * sampleRate) / ticksPerSec) % USUAL_MULTIPLE !== 0)
  return unusual.reduce((sum, { count }) => sum + count, 0) > ODD_PACKETS
}
