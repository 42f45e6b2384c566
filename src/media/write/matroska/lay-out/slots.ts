import { firstAtLeast } from '../../first-at-least.js'
import type { BlockList } from '../read/block-list.js'
import type { MatroskaFile } from '../read/matroska-file.js'

/** Places of a track's packets in a file, in file order: its old blocks, and clusters inside a gap of it. */
export interface BlockSlots {
  readonly count: number
  /** Old bytes that the new packets of the slot replace; none inside a gap. */
  readonly start: (slot: number) => number
  readonly end: (slot: number) => number
  readonly tick: (slot: number) => number
  readonly cluster: (slot: number) => number
  /** Place of the old block in its cluster, from 1; 0 inside a gap. */
  readonly ordinal: (slot: number) => number
  /** The first slot of a cluster, or of a later one. */
  readonly firstIn: (cluster: number) => number
}

/** A shorter gap has no sound of its own: the packets go beside the blocks around it. */
const LEAST_GAP_SEC = 1

/** Finds the places for the packets of a track. */
export function slotsOf({ clusters, tickNs }: MatroskaFile, blocks: BlockList): BlockSlots {
  const gaps = gapClusters(clusters, blocks, (LEAST_GAP_SEC * 1e9) / tickNs)
  const order = slotOrder(blocks, gaps)
  const gapAt = (slot: number) => {
    const place = order ? (order[slot] as number) : slot
    return place < 0 ? clusters[-1 - place] : undefined
  }
  const blockAt = (slot: number) => (order ? (order[slot] as number) : slot)
  const cluster = (slot: number) => (gapAt(slot) ? -1 - (order?.[slot] as number) : blocks.cluster(blockAt(slot)))
  const count = blocks.count + gaps.length
  return {
    ...{ count, cluster },
    start: (slot) => gapAt(slot)?.firstBlockStart ?? blocks.start(blockAt(slot)),
    end: (slot) => gapAt(slot)?.firstBlockStart ?? blocks.end(blockAt(slot)),
    tick: (slot) => gapAt(slot)?.tick ?? blocks.tick(blockAt(slot)),
    ordinal: (slot) => (gapAt(slot) ? 0 : blocks.ordinal(blockAt(slot))),
    firstIn: (wanted) => firstAtLeast(count, cluster, wanted),
  }
}

/** Clusters without a block of the track, in the middle of a gap. */
function gapClusters(clusters: MatroskaFile['clusters'], blocks: BlockList, leastTicks: number): readonly number[] {
  const gaps: number[] = []
  for (let next = 1; next < blocks.count; next++) {
    const [from, to] = [blocks.cluster(next - 1), blocks.cluster(next)]
    if (to - from < 2 || blocks.tick(next) - blocks.tick(next - 1) < leastTicks) continue
    for (let place = from + 1; place < to; place++) {
      const tick = clusters[place]?.tick ?? 0
      if (tick > blocks.tick(next - 1) && tick < blocks.tick(next)) gaps.push(place)
    }
  }
  return gaps
}

/** By slot: the place of its block, or -1 less the place of its cluster. Null if every slot is a block. */
function slotOrder(blocks: BlockList, gaps: readonly number[]): Int32Array | null {
  if (gaps.length === 0) return null
  const order = new Int32Array(blocks.count + gaps.length)
  let gap = 0
  let slot = 0
  for (let block = 0; block < blocks.count; block++) {
    for (; gap < gaps.length && (gaps[gap] as number) < blocks.cluster(block); gap++) {
      order[slot++] = -1 - (gaps[gap] as number)
    }
    order[slot++] = block
  }
  return order
}
