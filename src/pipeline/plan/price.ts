import { soundEndSec } from '../../media/index.js'
import type { MediaInfo } from '../../media/media-info.js'
import { chunkForecast } from './chunk-lengths.js'
import { type PiecePlan, pieceSec, type TrackPlan } from './plan-tracks.js'

/** The part of a plan that is paid for. */
interface PricedPlan {
  readonly media: MediaInfo
  readonly tracks: readonly TrackPlan[]
  readonly paidSec: number | null
}

/**
 * The plan with a price that the charge does not exceed. A service counts decoded samples, and headers state fewer. It
 * reads packets, so only a plan that is shown needs it: a job counts what it cuts.
 *
 * @throws the typed errors of ffprobe's runner
 */
export async function withPrice<P extends PricedPlan>(plan: P, signal: AbortSignal | undefined): Promise<P> {
  const ends = new Map<number, number | null>()
  for (const { stream, pieces } of plan.tracks) {
    const isOpen = pieces.some(({ cut }) => cut.endSample === null)
    if (isOpen) ends.set(stream.audioIndex, await soundEndSec(plan.media, stream, signal))
  }
  return { ...plan, paidSec: mostPaidSec(plan, ends) }
}

/**
 * Most seconds of voice to be sent, each file of it rounded up to the millisecond. Null if an end is unknown.
 *
 * @param ends on the file's clock in seconds, by the index of the audio track; otherwise the file's stated length counts
 */
export function mostPaidSec(
  { media, tracks }: Omit<PricedPlan, 'paidSec'>,
  ends?: ReadonlyMap<number, number | null>,
): number | null {
  const lengths = tracks.flatMap(({ stream, pieces }) =>
    pieces.map((piece) => sentSec(piece, pieceSec(known(media, ends?.get(stream.audioIndex), piece), stream, piece))),
  )
  return lengths.reduce<number | null>((sum, sec) => (sum === null || sec === null ? null : sum + sec), 0)
}

/** A cut with an end has exactly its length, with silence if the track ends before. */
function known(media: MediaInfo, durationSec: number | null | undefined, { cut }: PiecePlan): MediaInfo {
  return durationSec === undefined || cut.endSample !== null ? media : { ...media, durationSec }
}

function sentSec({ chunks }: PiecePlan, sec: number | null): number | null {
  if (sec === null) return null
  const forecast = chunkForecast(sec, chunks)
  // The tolerance, a microsecond, is below the length of any sample.
  return (Math.ceil(forecast.sentSec * 1000 - 0.001) + forecast.mostCount - 1) / 1000
}
