import { FACTS_URL, type FfmpegOutput } from '../../ffmpeg/ffmpeg.js'
import { isMuxable } from '../../media-info.js'
import { Column } from '../column.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'

/** The packets of a stream. Columns, because a film has hundreds of thousands. */
export interface StreamTimes {
  readonly tickSec: number
  /** Presentation time of each packet, in ticks of the stream; NaN if the container states none. */
  readonly pts: Float64Array
  /** Checksum and size of each packet in one number. */
  readonly contents: Float64Array
  /** Size and checksum of the decoder configuration; undefined if the stream has none. */
  readonly coding?: string | undefined
}

/** By index of the stream in the input. */
export type PacketTimesByIndex = ReadonlyMap<number, StreamTimes>

type Floats = ReturnType<typeof Column.floats>

/** A size lies above a checksum of 32 bits. */
export const SIZE_UNIT = 2 ** 32

/** ffmpeg's "no timestamp". */
const NO_PTS = '-9223372036854775808'

/**
 * A further output that prints the timestamps of every copied video and subtitle in the same reading. Audio is left
 * out: containers divide it into other packets, and the sync check decodes it.
 *
 * @param indexOf index of a stream in the file that is read
 * @param parts new or replaced streams whose packets are compared
 * @param input of the command from which the parts are read
 */
export function timesOutput(
  plan: MuxPlan,
  indexOf: (stream: PlannedStream) => number,
  parts: readonly PlannedStream[] = [],
  input = 0,
): readonly FfmpegOutput[] {
  const copied = timedStreams(plan).map((stream) => `0:${indexOf(stream)}`)
  const maps = [...copied, ...parts.map((stream) => `${input}:${indexOf(stream)}`)]
  return maps.length === 0 ? [] : [packetsOutput(maps)]
}

/** The output that prints the timestamp and the checksum of each packet of some streams. */
export function packetsOutput(maps: readonly string[]): FfmpegOutput {
  const options = [
    ...maps.flatMap((map) => ['-map', map]),
    ...['-c', 'copy', '-copyinkf', '-map_metadata', '-1', '-map_chapters', '-1', '-max_muxing_queue_size', '9999'],
    // One line per packet, buffered: unbuffered writes would cost more than the hashing.
    ...['-flush_packets', '0', '-f', 'framecrc'],
  ]
  // A separate pipe: a buffer can end in the middle of a line and mix with lines of other outputs.
  return { url: FACTS_URL, options }
}

/** Collects the lines that {@link timesOutput} makes ffmpeg print. */
export class PacketTimes {
  readonly #byPlace = new Map<number, { readonly tickSec: number; readonly pts: Floats; readonly contents: Floats }>()
  readonly #codings = new Map<number, string>()
  readonly #parts: readonly PlannedStream[]

  /** @param parts as for {@link timesOutput} */
  constructor(parts: readonly PlannedStream[] = []) {
    this.#parts = parts
  }

  /** Takes a line; ignores lines without a packet's time. */
  take(line: string): void {
    if (line.startsWith('#')) {
      this.#takeFact(line)
      return
    }
    const [, of, pts, size, sum] = /^(\d+),\s*-?\d+,\s*(-?\d+),\s*\d+,\s*(\d+),\s*0x([0-9a-f]+)/.exec(line) ?? []
    const stream = this.#byPlace.get(Number(of))
    if (!stream || pts === undefined) return
    stream.pts.push(pts === NO_PTS ? Number.NaN : Number(pts))
    stream.contents.push(Number(size) * SIZE_UNIT + Number.parseInt(sum ?? '', 16))
  }

  #takeFact(line: string): void {
    const [, described, coding] = /^#extradata (\d+):\s*(\d+, 0x[0-9a-f]+)$/.exec(line) ?? []
    if (coding !== undefined) this.#codings.set(Number(described), coding)
    const [, place, numerator, denominator] = /^#tb (\d+): (\d+)\/(\d+)$/.exec(line) ?? []
    if (place === undefined) return
    const tickSec = Number(numerator) / Number(denominator)
    this.#byPlace.set(Number(place), { tickSec, pts: Column.floats(), contents: Column.floats() })
  }

  /** By place in the list of timed streams. */
  at(place: number): StreamTimes | undefined {
    const found = this.#byPlace.get(place)
    if (!found) return undefined
    const { tickSec, pts, contents } = found
    return { tickSec, pts: pts.values(), contents: contents.values(), coding: this.#codings.get(place) }
  }

  /** By index of the stream in the *input*, whichever side was read. */
  byInputIndex(plan: MuxPlan): PacketTimesByIndex {
    return new Map(
      [...timedStreams(plan), ...this.#parts].flatMap(({ input }, place) => {
        const found = this.at(place)
        return found ? [[input.index, found] as const] : []
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
  const toleranceSec = after.tickSec * 1.01 + errorSec + 1e-9
  let shiftSec: number | undefined
  let made = nextFilled(after, 0)
  for (let old = nextFilled(before, 0); old < before.pts.length; old = nextFilled(before, old + 1)) {
    if (made === after.pts.length) return false
    const movedSec = (after.pts[made] as number) * after.tickSec - (before.pts[old] as number) * before.tickSec
    made = nextFilled(after, made + 1)
    if (Number.isNaN(movedSec)) continue
    shiftSec ??= movedSec
    if (Math.abs(movedSec - shiftSec) > toleranceSec) return false
  }
  return made === after.pts.length
}

/** Place of the first packet with bytes from a place on. */
function nextFilled({ contents }: StreamTimes, from: number): number {
  let place = from
  while (place < contents.length && (contents[place] as number) < SIZE_UNIT) place += 1
  return place
}

function timedStreams(plan: MuxPlan): readonly PlannedStream[] {
  return plan.streams.filter(({ fate, input }) => {
    if (fate !== 'copied' || input.isEncrypted) return false
    // The QuickTime muxer fills the time between two subtitles with empty packets.
    return input.kind === 'video'
      ? !input.isCover && isMuxable(input)
      : input.kind === 'subtitle' && input.codec !== 'mov_text'
  })
}
