import type { PiecePlan, TrackPlan } from './plan-tracks.js'

/** Sound before the first cut: joints of packets are looked for in it, and a decoder settles in it. */
const LEAD_SEC = 5
/** Cuts with less sound between them are read together. Starting another decoder takes longer than decoding that much. */
const NEAR_SEC = 30

/** Groups the pieces of a track that are read in one run, in order, with the sample at which every reading begins. */
export function pieceGroups({ stream, pieces }: TrackPlan) {
  const groups: PiecePlan[][] = []
  let endSample = Number.NEGATIVE_INFINITY
  for (const piece of [...pieces].sort((one, other) => one.cut.startSample - other.cut.startSample)) {
    const last = groups.at(-1)
    if (last && piece.cut.startSample - endSample <= NEAR_SEC * stream.sampleRate) last.push(piece)
    else groups.push([piece])
    endSample = Math.max(endSample, piece.cut.endSample ?? Number.POSITIVE_INFINITY)
  }
  return groups.map((own) => ({
    pieces: own,
    // Such a track has its exact place only from its start.
    readFromSample: stream.frameJitterSec
      ? 0
      : Math.max(0, (own[0] as PiecePlan).cut.startSample - LEAD_SEC * stream.sampleRate),
  }))
}
