import type { FfmpegOutput } from '../../ffmpeg/ffmpeg.js'
import type { StreamInfo } from '../../media-info.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'

/** Hash of all packets of a stream in order, as `MURMUR3=0123…`; by index in the file it was read from. */
export type PacketHashes = ReadonlyMap<number, string>

/** Faster than the disk. It detects accidental changes, not forged ones. */
const HASH = 'murmur3'

/**
 * A second output that hashes the packets of every copied stream in the same reading. Its lines go to stderr, which
 * is read anyway. Attachments have no packets.
 *
 * @param indexOf index of a stream in the file that is read
 * @returns none if no stream is copied
 */
export function hashOutput(plan: MuxPlan, indexOf: (stream: PlannedStream) => number): readonly FfmpegOutput[] {
  const hashed = hashedStreams(plan)
  if (hashed.length === 0) return []
  const filters = hashed.flatMap(({ input }, place) => {
    const filter = normalisingFilter(input, plan)
    return filter ? [`-bsf:${place}`, filter] : []
  })
  const options = [
    ...hashed.flatMap((stream) => ['-map', `0:${indexOf(stream)}`]),
    ...['-c', 'copy', '-copyinkf', '-map_metadata', '-1', '-map_chapters', '-1', ...filters],
    ...['-max_muxing_queue_size', '9999', '-f', 'streamhash', '-hash', HASH],
  ]
  return [{ url: 'pipe:2', options }]
}

/** Collects the hash lines that {@link hashOutput} makes ffmpeg print. */
export class HashLines {
  readonly #byPlace = new Map<number, string>()

  /** Returns true if the line is a hash line. */
  take(line: string): boolean {
    const [, place, hash] = /^(\d+),\w,(\w+=[0-9a-f]+)$/.exec(line) ?? []
    if (place === undefined || hash === undefined) return false
    this.#byPlace.set(Number(place), hash)
    return true
  }

  /** By index of the stream in the *input*, whichever side was hashed. */
  byInputIndex(plan: MuxPlan): PacketHashes {
    return new Map(
      hashedStreams(plan).flatMap(({ input }, place) => {
        const hash = this.#byPlace.get(place)
        return hash === undefined ? [] : [[input.index, hash] as const]
      }),
    )
  }
}

/** True if a stream is copied and ffmpeg reads its packets: attachments have none, and unknown streams are skipped. */
export function isHashed({ fate, input }: PlannedStream): boolean {
  return fate === 'copied' && input.kind !== 'attachment' && input.kind !== 'unknown'
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
function normalisingFilter({ codec }: StreamInfo, { media, container }: MuxPlan): string | undefined {
  const wrapped = START_CODED.has(media.container) || START_CODED.has(container)
  if (!wrapped) return undefined
  if (codec === 'h264') return 'h264_mp4toannexb,filter_units=remove_types=7-9'
  if (codec === 'hevc') return 'hevc_mp4toannexb,filter_units=remove_types=32-35'
  return codec === 'aac' && media.container !== container ? 'aac_adtstoasc' : undefined
}
