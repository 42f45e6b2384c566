import type { Recipe } from '../../config/preset-schema.js'
import type { ClockRange } from '../../media/index.js'
import type { VoiceMap } from '../../voice/index.js'
import type { JobSettings } from './job-settings.js'

/** A second is noisy from this strength of the regeneration on. Less could not be heard. */
const NOISY = 0.1
/** Mean probability of voice from which on a second contains speech. */
export const VOICED = 0.15

/** A time range in seconds. An `endSec` of null means the track's end. */
export interface RangeSec {
  readonly startSec: number
  readonly endSec: number | null
}

/**
 * The parts of a track that have something to regenerate: noise with speech in it. Other noise stays as it is, because
 * it is not a voice.
 *
 * @param leastGapSec shorter clean parts are not worth leaving out, because each part is sent with handles
 */
export function noisyRanges({ voice, noise }: VoiceMap, leastGapSec: number): readonly RangeSec[] {
  const ranges: { startSec: number; endSec: number; isVoiced: boolean }[] = []
  for (const [second, strength] of noise.entries()) {
    if (strength < NOISY) continue
    const isVoiced = (voice[second] ?? 0) >= VOICED
    const last = ranges.at(-1)
    if (last && second - last.endSec <= leastGapSec) {
      last.endSec = second + 1
      last.isVoiced ||= isVoiced
    } else {
      ranges.push({ startSec: second, endSec: second + 1, isVoiced })
    }
  }
  return ranges
    .filter(({ isVoiced }) => isVoiced)
    .map(({ startSec, endSec }) => ({ startSec, endSec: endSec === noise.length ? null : endSec }))
}

/** The parts of the wanted ranges that lie in the given times. */
export function rangesWithin(
  wanted: readonly ClockRange[],
  times: readonly RangeSec[],
  sampleRate: number,
): ClockRange[] {
  const inSamples = (sec: number | null) => (sec === null ? null : Math.round(sec * sampleRate))
  return wanted.flatMap(({ startSample, endSample }) =>
    times.flatMap(({ startSec, endSec }) => {
      const start = Math.max(startSample, Math.round(startSec * sampleRate))
      const end = earlier(endSample, inSamples(endSec))
      return end === null || end > start ? [{ startSample: start, endSample: end }] : []
    }),
  )
}

/** The earlier of two ends; null is the track's own. */
function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

/** The voice maps of a file, by the index of their audio track. */
export type VoiceMaps = ReadonlyMap<number, VoiceMap>

/** True if the settings need a voice map to decide what is sent. */
export function needsMaps({ recipe }: JobSettings): boolean {
  return (recipe.onlyNoisy || recipe.skipClean) && recipe.mix > 0
}

/** The shortest clean part to leave out. Two handles cost as much as a part of their length. */
export function leastGapSec({ segments }: Recipe): number {
  return 2 * segments.handleSec + 1
}

/** The parts that are worth sending; none with a mix of 0. @param map of the track; undefined before its mapping */
export function rangesToSend(
  wanted: readonly ClockRange[],
  { recipe }: JobSettings,
  map: VoiceMap | undefined,
  sampleRate: number,
): readonly ClockRange[] {
  if (recipe.mix === 0) return []
  if (!map) return wanted
  const noisy = rangesWithin(wanted, noisyRanges(map, leastGapSec(recipe)), sampleRate)
  return recipe.onlyNoisy || noisy.length === 0 ? noisy : wanted
}
