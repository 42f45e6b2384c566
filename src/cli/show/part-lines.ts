import type { JobPlan } from '../../pipeline/plan/plan-job.js'
import { trackRanges } from '../../pipeline/plan/plan-tracks.js'
import type { Segment } from '../../pipeline/plan/segments.js'

/** More parts than these are counted. */
const MOST_LINES = 8

/** The parts of a file that a plan regenerates, as seconds, one a line. Empty for the whole file. */
export function partLines({ media, tracks }: JobPlan, segments: readonly Segment[]): readonly string[] {
  const track = tracks.find(({ pieces }) => pieces.length > 0)
  if (!track) return []
  const endSec = media.durationSec
  const isClipped = segments.some((one) => 'startSec' in one && endSec !== null && (one.endSec ?? 0) > endSec)
  const lines = trackRanges(track).flatMap(({ startSample, endSample }) => {
    if (startSample === 0 && endSample === null && !isClipped) return []
    const seconds = (samples: number) => secondsOf(samples / track.stream.sampleRate)
    const end = endSample === null ? (endSec === null ? 'the end' : secondsOf(endSec)) : seconds(endSample)
    return `${seconds(startSample)}–${end} s${isClipped && endSample === null ? ' (clipped at the end of the file)' : ''}`
  })
  const more = lines.length - MOST_LINES
  return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${more} more`] : lines
}

/** Seconds to the millisecond, with at least one decimal. */
function secondsOf(sec: number): string {
  return sec.toFixed(3).replace(/0{1,2}$/, '')
}
