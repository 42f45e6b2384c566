import type { SampleRange } from '../../voice-cut.js'

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

/**
 * Finds the packets that hold changed samples. A packet also shapes the samples of the next one, so a span begins a
 * packet early. The samples of its first packet are then the same in both codings. Spans whose joints could meet are
 * joined.
 *
 * @param changed ranges on the file's clock
 * @param packetAt the packet whose samples play at a sample of the clock
 */
export function changedSpans(
  changed: readonly SampleRange[],
  count: number,
  packetAt: (sample: number) => number,
): readonly PacketSpan[] {
  const spans: PacketSpan[] = []
  for (const { startSample, endSample } of [...changed].sort((one, other) => one.startSample - other.startSample)) {
    const from = Math.max(0, packetAt(startSample) - 1)
    const to = Math.min(count - 1, packetAt(endSample - 1))
    if (to < 0 || from >= count || endSample <= startSample) continue
    const last = spans.at(-1)
    if (last && from - last.to <= 2 * (MOST_MOVES + LEAD_PACKETS)) {
      spans[spans.length - 1] = { from: last.from, to: Math.max(last.to, to) }
    } else spans.push({ from, to })
  }
  return spans
}
