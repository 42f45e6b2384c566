import { ceil, floor, multiply, type Rational, rational, subtract } from './time/rational.js'
import type { TimeRange } from './time/time-range.js'

/** Samples of a file, the end excluded. */
export interface UsedRange {
  readonly startSample: number
  readonly endSample: number
}

/** The file that ranges are mapped to. */
export interface SampleGrid {
  /** Time of the ranges' clock at the first sample, in seconds. */
  readonly origin: Rational
  readonly sampleRate: number
  /** Null where the file does not say how long it is. */
  readonly sampleCount: number | null
}

/**
 * Maps a range of time to a file's samples: from the sample in which it begins to the one in which it ends. Both are
 * whole, so that everything an editor plays is inside, whichever way it rounds.
 *
 * @returns undefined if no part of the range lies in the file
 */
export function samplesOf(range: TimeRange, { origin, sampleRate, sampleCount }: SampleGrid): UsedRange | undefined {
  const rate = rational(sampleRate)
  const first = Number(floor(multiply(subtract(range.start, origin), rate)))
  const last = Number(ceil(multiply(subtract(range.end, origin), rate)))
  const [startSample, endSample] = [Math.max(0, first), Math.min(sampleCount ?? Number.MAX_SAFE_INTEGER, last)]
  return startSample < endSample ? { startSample, endSample } : undefined
}

/**
 * Orders ranges and joins those that overlap, touch, or lie at most `gapSamples` apart.
 *
 * @returns disjoint, ascending
 */
export function mergeUsed(ranges: readonly UsedRange[], gapSamples = 0): readonly UsedRange[] {
  const merged: UsedRange[] = []
  for (const range of [...ranges].sort((a, b) => a.startSample - b.startSample)) {
    const last = merged.at(-1)
    if (!last || range.startSample > last.endSample + gapSamples) merged.push(range)
    else if (range.endSample > last.endSample) merged[merged.length - 1] = { ...last, endSample: range.endSample }
  }
  return merged
}

/** Ranges with so much more on either side, as far as the file reaches; disjoint again. */
export function growUsed(ranges: readonly UsedRange[], bySamples: number, sampleCount: number | null) {
  const end = sampleCount ?? Number.MAX_SAFE_INTEGER
  return mergeUsed(
    ranges.map(({ startSample, endSample }) => ({
      startSample: Math.max(0, startSample - bySamples),
      endSample: Math.min(end, endSample + bySamples),
    })),
  )
}

/** Samples of disjoint ranges together. */
export function countSamples(ranges: readonly UsedRange[]): number {
  return ranges.reduce((sum, { startSample, endSample }) => sum + endSample - startSample, 0)
}

/**
 * The parts of ranges outside others, one sample away from them. Ranges that touch are joined and sent as one, and
 * those others must stay as they are.
 *
 * @param taken disjoint
 */
export function beyondUsed(ranges: readonly UsedRange[], taken: readonly UsedRange[]): readonly UsedRange[] {
  return taken.reduce<readonly UsedRange[]>(
    (left, { startSample, endSample }) =>
      left.flatMap((range) => {
        if (range.endSample < startSample || range.startSample > endSample) return [range]
        const parts = [
          { startSample: range.startSample, endSample: startSample - 1 },
          { startSample: endSample + 1, endSample: range.endSample },
        ]
        return parts.filter((part) => part.startSample < part.endSample)
      }),
    ranges,
  )
}
