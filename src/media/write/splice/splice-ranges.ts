import type { SampleRange } from '../../voice-cut.js'
import { firstAtLeast } from '../first-at-least.js'
import type { SpliceJob } from './splice-job.js'

/** Packets `from` to `to`, both included. */
export interface PacketSpan {
  readonly from: number
  readonly to: number
}

/** Packets by which a joint may move outward until it holds. */
export const MOST_MOVES = 8
/** Packets encoded before a joint and dropped, until the encoder has settled. */
export const LEAD_PACKETS = 12
/** Packets fed behind a joint: the last one overlaps the next, and the choice of its window needs one more. */
export const TAIL_PACKETS = 5
/** Largest error of a time that a container rounds to ms. */
export const ROUNDING_SEC = 0.0025

/** Sample of the clock at which a packet plays by its container. */
export function statedSample({ track, input }: SpliceJob, packet: number): number {
  return Math.round(track.packets.startSec(packet) * input.sampleRate)
}

/** The last packet that plays by a sample, by its container; -1 before the first. */
export function statedPacketAt(job: SpliceJob, sample: number): number {
  return firstAtLeast(job.track.packets.count, (packet) => statedSample(job, packet), sample + 1) - 1
}

/**
 * Finds the packets that hold changed samples. A packet also shapes the samples of the next one, so a span begins a
 * packet early. The samples of its first packet are then the same in both codings. Spans whose joints could meet are
 * joined.
 *
 * @param changed ranges on the file's clock
 * @param packetAt the packet whose samples play at a sample of the clock
 * @param mayMeet true if the joints of a span could meet those of another one that begins at a packet
 */
export function changedSpans(
  changed: readonly SampleRange[],
  count: number,
  packetAt: (sample: number) => number,
  mayMeet: (span: PacketSpan, from: number) => boolean,
): readonly PacketSpan[] {
  const spans: PacketSpan[] = []
  for (const { startSample, endSample } of [...changed].sort((one, other) => one.startSample - other.startSample)) {
    const from = Math.max(0, packetAt(startSample) - 1)
    const to = Math.min(count - 1, packetAt(endSample - 1))
    if (to < 0 || from >= count || endSample <= startSample) continue
    const last = spans.at(-1)
    if (last && mayMeet(last, from)) {
      spans[spans.length - 1] = { from: last.from, to: Math.max(last.to, to) }
    } else spans.push({ from, to })
  }
  return spans
}
