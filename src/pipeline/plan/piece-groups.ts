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
  return groups.map((own) => ({ pieces: own, readFromSample: readFrom(stream, own[0] as PiecePlan) }))
}

/** Decoders that fill bands with noise of a generator that runs on from their first packet. */
const MAKE_NOISE: ReadonlySet<string> = new Set(['aac', 'ac3', 'eac3', 'opus'])

/**
 * The sample at which the reading of each cut of a track begins. If the decoder makes noise, it is the cut's own, so
 * that a cut has the same samples whatever others are cut with it. A voice that was paid for is then found in the cache.
 */
export function cutReadFrom(track: TrackPlan): ReadonlyMap<PiecePlan, number> {
  const { stream } = track
  // Elsewhere, another start moves the sound.
  const isExact = stream.timeBase === `1/${stream.sampleRate}`
  const isApart = isExact && MAKE_NOISE.has(stream.codec ?? '')
  return new Map(
    pieceGroups(track).flatMap(({ pieces, readFromSample }) =>
      pieces.map((piece) => [piece, isApart ? readFrom(stream, piece) : readFromSample] as const),
    ),
  )
}

function readFrom({ frameJitterSec, sampleRate }: TrackPlan['stream'], { cut }: PiecePlan): number {
  // Such a track has its exact place only from its start.
  return frameJitterSec ? 0 : Math.max(0, cut.startSample - LEAD_SEC * sampleRate)
}
