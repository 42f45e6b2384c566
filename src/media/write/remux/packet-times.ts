import { FACTS_URL, type FfmpegOutput } from '../../ffmpeg/ffmpeg.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'

/** Presentation time of each packet of a stream, in its own ticks; null if the container states none. */
export interface StreamTimes {
  readonly tickSec: number
  readonly pts: readonly (number | null)[]
  /** Checksum and size of each packet in one number. */
  readonly contents: readonly number[]
}

/** By index of the stream in the input. */
export type PacketTimesByIndex = ReadonlyMap<number, StreamTimes>

/** A size lies above a checksum of 32 bits. */
const SIZE_UNIT = 2 ** 32

/** ffmpeg's "no timestamp". */
const NO_PTS = '-9223372036854775808'

/**
 * A further output that prints the timestamps of every copied video and subtitle in the same reading. Audio is left
 * out: containers divide it into other packets, and the sync check decodes it.
 *
 * @param indexOf index of a stream in the file that is read
 * @param parts replaced streams with packets that stay
 */
export function timesOutput(
  plan: MuxPlan,
  indexOf: (stream: PlannedStream) => number,
  parts: readonly PlannedStream[] = [],
): readonly FfmpegOutput[] {
  const timed = [...timedStreams(plan), ...parts]
  if (timed.length === 0) return []
  const options = [
    ...timed.flatMap((stream) => ['-map', `0:${indexOf(stream)}`]),
    ...['-c', 'copy', '-copyinkf', '-map_metadata', '-1', '-map_chapters', '-1', '-max_muxing_queue_size', '9999'],
    // One line per packet, buffered: unbuffered writes would cost more than the hashing.
    ...['-flush_packets', '0', '-f', 'framecrc'],
  ]
  // A separate pipe: a buffer can end in the middle of a line and mix with lines of other outputs.
  return [{ url: FACTS_URL, options }]
}

/** Collects the lines that {@link timesOutput} makes ffmpeg print; sixteen bytes per packet. */
export class PacketTimes {
  readonly #byPlace = new Map<number, { tickSec: number; pts: (number | null)[]; contents: number[] }>()
  readonly #parts: readonly PlannedStream[]

  /** @param parts as for {@link timesOutput} */
  constructor(parts: readonly PlannedStream[] = []) {
    this.#parts = parts
  }

  /** Takes a line; ignores lines without a packet's time. */
  take(line: string): void {
    const [, place, numerator, denominator] = /^#tb (\d+): (\d+)\/(\d+)$/.exec(line) ?? []
    if (place !== undefined) {
      this.#byPlace.set(Number(place), { tickSec: Number(numerator) / Number(denominator), pts: [], contents: [] })
      return
    }
    const [, of, pts, size, sum] = /^(\d+),\s*-?\d+,\s*(-?\d+),\s*\d+,\s*(\d+),\s*0x([0-9a-f]+)/.exec(line) ?? []
    const stream = this.#byPlace.get(Number(of))
    if (!stream || pts === undefined) return
    stream.pts.push(pts === NO_PTS ? null : Number(pts))
    stream.contents.push(Number(size) * SIZE_UNIT + Number.parseInt(sum ?? '', 16))
  }

  /** By index of the stream in the *input*, whichever side was read. */
  byInputIndex(plan: MuxPlan): PacketTimesByIndex {
    return new Map(
      [...timedStreams(plan), ...this.#parts].flatMap(({ input }, place) => {
        const times = this.#byPlace.get(place)
        return times === undefined ? [] : [[input.index, times] as const]
      }),
    )
  }
}

/**
 * True if all packets keep their times, up to a common shift and one tick of the output's time base. Muxers leave out
 * packets without bytes.
 *
 * @param errorSec by which ffmpeg may misstate the times before
 */
export function sameTimes(before: StreamTimes, after: StreamTimes, errorSec = 0): boolean {
  const [old, made] = [filledTimes(before), filledTimes(after)]
  if (old.length !== made.length) return false
  let shiftSec: number | undefined
  return old.every((was, place) => {
    const is = made[place]
    if (was === null || is === null || is === undefined) return true
    const movedSec = is * after.tickSec - was * before.tickSec
    shiftSec ??= movedSec
    return Math.abs(movedSec - shiftSec) <= after.tickSec * 1.01 + errorSec + 1e-9
  })
}

function filledTimes({ pts, contents }: StreamTimes): readonly (number | null)[] {
  return pts.filter((_, place) => (contents[place] ?? 0) >= SIZE_UNIT)
}

function timedStreams(plan: MuxPlan): readonly PlannedStream[] {
  return plan.streams.filter(({ fate, input }) => {
    if (fate !== 'copied') return false
    // The QuickTime muxer fills the time between two subtitles with empty packets.
    return input.kind === 'video' ? !input.isCover : input.kind === 'subtitle' && input.codec !== 'mov_text'
  })
}
