import type { FfmpegOutput } from '../../ffmpeg/ffmpeg.js'
import { isMuxable, type StreamInfo } from '../../media-info.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'
import type { NewStream } from './plan-streams.js'

/** Hash of all packets of a stream in order, as `MURMUR3=0123…`; by index in the file it was read from. */
export type PacketHashes = ReadonlyMap<number, string>

/** Faster than the disk. It detects accidental changes, not forged ones. */
const HASH = 'murmur3'

/** A stream to hash: its index in the file that is read, and its codec. */
export interface HashedStream extends Pick<StreamInfo, 'index' | 'codec'> {
  /** PCM codec whose samples are hashed instead of the packets. */
  readonly decodedAs?: string
}

/** The containers whose packets are compared. They decide how packets are wrapped. */
export interface HashedContainers {
  readonly from: string
  readonly to: string
}

/**
 * A second output that hashes the packets of every copied stream in the same reading. Its lines go to stderr, which
 * is read anyway. Attachments have no packets.
 *
 * @param indexOf index of a stream in the file that is read
 * @param sounds new PCM, whose samples are hashed
 * @returns none if there is nothing to hash
 */
export function hashOutput(
  plan: MuxPlan,
  indexOf: (stream: PlannedStream) => number,
  sounds: readonly NewStream[] = [],
): readonly FfmpegOutput[] {
  const copied = hashedStreams(plan).map((stream) => ({ index: indexOf(stream), codec: stream.input.codec }))
  const made = sounds.map((stream) => {
    const { codec } = stream.encoding
    return { index: indexOf(stream), codec, decodedAs: codec }
  })
  return streamHashOutput([...copied, ...made], { from: plan.media.container, to: plan.container })
}

/** The output that hashes these streams, in order; none for no stream. */
export function streamHashOutput(
  streams: readonly HashedStream[],
  containers: HashedContainers,
): readonly FfmpegOutput[] {
  if (streams.length === 0) return []
  const filters = streams.flatMap(({ codec, decodedAs }, place) => {
    if (decodedAs !== undefined) return [`-c:${place}`, decodedAs]
    const filter = normalisingFilter(codec, containers)
    return filter ? [`-bsf:${place}`, filter] : []
  })
  const options = [
    ...streams.flatMap(({ index }) => ['-map', `0:${index}`]),
    ...['-c', 'copy', '-copyinkf', '-map_metadata', '-1', '-map_chapters', '-1', ...filters],
    ...['-max_muxing_queue_size', '9999', '-f', 'streamhash', '-hash', HASH],
  ]
  return [{ url: 'pipe:2', options }]
}

/** Collects the hash lines that {@link streamHashOutput} makes ffmpeg print. */
export class HashLines {
  readonly #byPlace = new Map<number, string>()

  /** Returns true if the line is a hash line. */
  take(line: string): boolean {
    const [, place, hash] = /^(\d+),\w,(\w+=[0-9a-f]+)$/.exec(line) ?? []
    if (place === undefined || hash === undefined) return false
    this.#byPlace.set(Number(place), hash)
    return true
  }

  /** By place in the list of hashed streams. */
  at(place: number): string | undefined {
    return this.#byPlace.get(place)
  }

  /** By index of the stream in the *input*, whichever side was hashed. @param sounds as for {@link hashOutput} */
  byInputIndex(plan: MuxPlan, sounds: readonly NewStream[] = []): PacketHashes {
    return new Map(
      [...hashedStreams(plan), ...sounds].flatMap(({ input }, place) => {
        const hash = this.#byPlace.get(place)
        return hash === undefined ? [] : [[input.index, hash] as const]
      }),
    )
  }
}

/**
 * True if a stream is copied and ffmpeg reads its packets. It reads none of attachments, and skips unknown streams.
 * It ends with an error at an encrypted packet in the second fragment of a film.
 */
export function isHashed({ fate, input }: PlannedStream): boolean {
  const isRead = input.kind !== 'attachment' && input.kind !== 'unknown' && !input.isEncrypted
  return fate === 'copied' && isRead && isMuxable(input)
}

function hashedStreams(plan: MuxPlan): readonly PlannedStream[] {
  return plan.streams.filter(isHashed)
}

/** Containers that carry H.264 and HEVC with start codes and parameter sets inside. */
const START_CODED = new Set(['ts', 'm2ts', 'mpg'])

/**
 * Transport streams wrap H.264 and HEVC differently, and their muxer adds delimiters. This filter brings both sides to
 * one form, without the units that only serve the wrapping. AAC loses its ADTS headers.
 */
function normalisingFilter(codec: string | null, { from, to }: HashedContainers): string | undefined {
  // The QuickTime muxer fills the time between two subtitles with empty packets, also if there is none.
  if (codec === 'mov_text') return 'noise=drop=lt(size\\,3)'
  const wrapped = START_CODED.has(from) || START_CODED.has(to)
  if (!wrapped) return undefined
  if (codec === 'h264') return 'h264_mp4toannexb,filter_units=remove_types=7-9'
  if (codec === 'hevc') return 'hevc_mp4toannexb,filter_units=remove_types=32-35'
  return codec === 'aac' && from !== to ? 'aac_adtstoasc' : undefined
}
