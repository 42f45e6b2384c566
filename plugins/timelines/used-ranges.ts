import type { SampleRange } from '../../src/media/index.js'
import { mergeRanges } from '../../src/pipeline/plan/segments.js'
import type { NoteTaker } from './note-taker.js'
import { ceil, floor, multiply, type Rational, rational, subtract } from './time/rational.js'
import type { TimeRange } from './time/time-range.js'
import type { ClipUse, Timeline } from './timeline.js'

/** The file that ranges are mapped to. */
export interface SampleGrid {
  /** Time of the ranges' clock at the first sample, in seconds. */
  readonly origin: Rational
  readonly sampleRate: number
  /** Null if the file does not say how long it is. */
  readonly sampleCount: number | null
}

/**
 * Maps a range of time to a file's samples: from the sample in which it begins to the one in which it ends. Both are
 * whole, so that everything an editor plays is inside, whichever way it rounds.
 *
 * @returns undefined if no part of the range lies in the file
 */
export function sampleRangeOf(
  range: TimeRange,
  { origin, sampleRate, sampleCount }: SampleGrid,
): SampleRange | undefined {
  const rate = rational(sampleRate)
  const first = Number(floor(multiply(subtract(range.start, origin), rate)))
  const last = Number(ceil(multiply(subtract(range.end, origin), rate)))
  const [startSample, endSample] = [Math.max(0, first), Math.min(sampleCount ?? Number.MAX_SAFE_INTEGER, last)]
  return startSample < endSample ? { startSample, endSample } : undefined
}

/** Ranges with so much more on either side, as far as the file reaches; disjoint again. */
export function growUsed(ranges: readonly SampleRange[], bySamples: number, sampleCount: number | null) {
  const end = sampleCount ?? Number.MAX_SAFE_INTEGER
  return mergeRanges(
    ranges.map(({ startSample, endSample }) => ({
      startSample: Math.max(0, startSample - bySamples),
      endSample: Math.min(end, endSample + bySamples),
    })),
  )
}

/** Samples of disjoint ranges together. */
export function totalSamples(ranges: readonly SampleRange[]): number {
  return ranges.reduce((sum, { startSample, endSample }) => sum + endSample - startSample, 0)
}

/**
 * The parts of ranges outside others, one sample away from them. Ranges that touch are joined and sent as one, and
 * those others must stay as they are.
 *
 * @param taken disjoint
 */
export function beyondUsed(ranges: readonly SampleRange[], taken: readonly SampleRange[]): readonly SampleRange[] {
  return taken.reduce<readonly SampleRange[]>(
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

/**
 * The uses of a timeline that no pattern leaves out, by the name of the clip or of its source. A note lists each use
 * that is left out. Another note names a pattern that matches nothing: a typing error would cost money.
 */
export function withoutExcluded(
  { uses, sources }: Timeline,
  patterns: readonly string[],
  notes: NoteTaker,
): readonly ClipUse[] {
  const sourceNames = new Map(sources.map(({ id, name }) => [id, name]))
  const namesOf = ({ clip, sourceId }: ClipUse) => [clip, sourceNames.get(sourceId) ?? '']
  for (const pattern of patterns) {
    if (uses.some((use) => namesOf(use).some((name) => matchesName([pattern], name)))) continue
    notes.add('excluded', pattern, 'is excluded, but no clip and no file is called so')
  }
  return uses.filter((use) => {
    const isExcluded = namesOf(use).some((name) => matchesName(patterns, name))
    if (isExcluded) notes.add('excluded', use.clip, 'is excluded: left as it is')
    return !isExcluded
  })
}

/** Matches a whole name against patterns, ignoring case; `*` stands for anything, `?` for one character. */
function matchesName(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')
    return new RegExp(`^${source}$`, 'is').test(name)
  })
}
