import { ID } from '../../../probe/matroska/ids.js'
import { type BytePiece, newBytes } from '../../byte-plan.js'
import { makeHead, makeUint } from '../read/make-ebml.js'
import { blockBytesOf } from './cluster-layout.js'
import { MAX_BLOCK_TICK, type NewMatroskaTrack } from './new-matroska-track.js'

/** A new cluster for packets that are too late for the cluster before it, inside a long gap of the old sound. */
export interface ExtraCluster {
  readonly track: NewMatroskaTrack
  readonly from: number
  readonly to: number
  readonly tick: number
  readonly head: Buffer
  /** The element with its time. */
  readonly time: Buffer
  readonly length: number
}

/** As long as the clusters that ffmpeg writes. */
const MAX_TICKS_SEC = 5

/** The clusters that follow a cluster of the input. They hold the packets that do not fit into it. */
export function extraClusters(
  tracks: readonly NewMatroskaTrack[],
  cluster: number,
  tickNs: number,
): readonly ExtraCluster[] {
  const maxTicks = Math.min(MAX_BLOCK_TICK, Math.floor((MAX_TICKS_SEC * 1e9) / tickNs))
  return tracks.flatMap((track) => {
    const { slots } = track
    const made: ExtraCluster[] = []
    const last = slots.firstIn(cluster + 1)
    for (let slot = slots.firstIn(cluster); slot < last; slot++) {
      for (let from = track.endIn(slot); from < track.firstIn(slot + 1); ) {
        let to = from + 1
        while (to < track.firstIn(slot + 1) && track.tickOf(to) - track.tickOf(from) <= maxTicks) to += 1
        made.push(extraCluster(track, from, to))
        from = to
      }
    }
    return made
  })
}

function extraCluster(track: NewMatroskaTrack, from: number, to: number): ExtraCluster {
  const tick = track.tickOf(from)
  const time = makeUint(ID.Timestamp, tick)
  const body = time.length + blockBytesOf(track, from, to)
  const head = makeHead(ID.Cluster, body)
  return { track, from, to, tick, head, time, length: head.length + body }
}

/** The pieces of a new cluster, in order. */
export function* extraClusterPieces({ track, from, to, tick, head, time }: ExtraCluster): Generator<BytePiece> {
  yield newBytes(Buffer.concat([head, time]))
  for (let packet = from; packet < to; packet++) yield* track.blockPieces(packet, tick)
}
