import { type Edit, NORMAL_RATE } from '../../../probe/movie/edits.js'
import { type DealtPackets, dealPackets, type PacketRange } from '../../deal-packets.js'
import type { DonorTrack } from '../read/donor-track.js'
import { isFragmented, type OldTrack } from '../read/voice-runs.js'

/** New audio on the clock of the track whose packets it replaces. */
export interface NewIsoTrack {
  readonly old: OldTrack
  readonly donor: DonorTrack
  /** Ticks per second of the track. */
  readonly timeScale: number
  /** Decoding time of a packet. The place after the last packet gives the end. */
  readonly tickOf: (packet: number) => number
  /** New packets by place among the old runs. */
  readonly deals: DealtPackets
  /** The places of the old runs that are chunks of the index. */
  readonly chunkPlaces: Uint32Array
  /** The packets that the index lists, out of all. */
  readonly indexed: PacketRange
  /** New edits of the track; null if it needs none. */
  readonly edits: readonly Edit[] | null
  /** Ticks of the new track by which its media time is later than that of the old one. */
  readonly shiftTicks: number
}

/** Puts new audio in the place of the old: sample 0 of the donor is presented at the time of the first old sample. */
export function newIsoTrack(old: OldTrack, donor: DonorTrack, movieTimeScale: number): NewIsoTrack {
  const inFragments = isFragmented(old)
  const timeScale = inFragments ? old.track.timeScale : fittingTimeScale(old.track.timeScale, donor)
  const scale = (donorTicks: number) => Math.round((donorTicks * timeScale) / donor.timeScale)
  const rescaled = (oldTicks: number) => Math.round((oldTicks * timeScale) / old.track.timeScale)
  const priming = scale(donor.primingTicks)
  const shownTick = rescaled(old.shownTick)
  // Only fragments state decoding times. Elsewhere the first packet has tick 0.
  const origin = inFragments ? shownTick - priming : 0
  const shiftTicks = origin + priming - shownTick
  const donorTick = (oldTick: number) =>
    Math.round(((oldTick - old.shownTick) * donor.timeScale) / old.track.timeScale) + donor.primingTicks
  const startTicks = Float64Array.from({ length: old.runs.count }, (_, place) => donorTick(old.runs.startTick(place)))
  // A player cannot skip priming at the start of fragments. Packets that would begin before the old ones are left out.
  const first = inFragments ? donor.packets.firstFrom(startTicks[0] ?? 0) : 0
  const tickFrom = (packet: number) => origin + scale(donor.packets.tickOf(packet))
  // ffmpeg begins at the first packet of fragments, even before the edit list. One that is not heard begins as early.
  const isHidden = inFragments && (old.runs.inIndex > 0 || tickFrom(first + 1) <= shownTick)
  const startTick = Math.min(tickFrom(first), isHidden ? old.runs.firstTick : Number.POSITIVE_INFINITY)
  const tickOf = (packet: number) => (packet === first ? startTick : tickFrom(packet))
  const deals = dealPackets(donor.packets, startTicks, first)
  const { inIndex } = old.runs
  return {
    ...{ old, donor, timeScale, tickOf, shiftTicks, deals },
    chunkPlaces: Uint32Array.from(deals.filled()).filter((place) => place < inIndex),
    indexed: inIndex === 0 ? { from: 0, to: 0 } : { from: deals.at(0).from, to: deals.at(inIndex - 1).to },
    edits: donor.isSplice
      ? null
      : movedEdits(old, {
          shiftTicks,
          rescaled,
          isFragmented: inFragments,
          leadTicks: inFragments ? 0 : priming,
          shownMovieTicks: Math.round(
            ((tickOf(donor.packets.count) - shownTick - shiftTicks) * movieTimeScale) / timeScale,
          ),
        }),
  }
}

/** The old time scale if it is exact to the sample, else the donor's: ffmpeg takes the ticks of priming for samples. */
function fittingTimeScale(timeScale: number, { packets, primingTicks, timeScale: donorScale }: DonorTrack): number {
  const isExact = timeScale >= donorScale || (packets.tickOf(Math.min(1, packets.count)) * timeScale) % donorScale === 0
  return isExact && primingTicks === 0 ? timeScale : donorScale
}

interface Move {
  readonly shiftTicks: number
  readonly rescaled: (oldTicks: number) => number
  readonly isFragmented: boolean
  /** Priming that a new edit list must hide. */
  readonly leadTicks: number
  /** Length of the new audio in ticks of the movie. */
  readonly shownMovieTicks: number
}

/** The old edits, moved by the encoder's priming. Without edits, one that hides the priming. */
function movedEdits({ track }: OldTrack, move: Move): readonly Edit[] | null {
  const { shiftTicks, rescaled, isFragmented, leadTicks, shownMovieTicks } = move
  if (track.edits.length === 0) {
    return leadTicks === 0 ? null : [{ duration: shownMovieTicks, mediaTick: leadTicks, rate: NORMAL_RATE }]
  }
  // An edit must not exceed the media: shorter audio shortens the last edits.
  let left = isFragmented ? Number.POSITIVE_INFINITY : shownMovieTicks
  return track.edits.map((edit) => {
    if (edit.mediaTick < 0) return edit
    const duration = Math.min(edit.duration, left)
    left -= duration
    return { ...edit, duration, mediaTick: rescaled(edit.mediaTick) + shiftTicks }
  })
}
