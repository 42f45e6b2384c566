import { type SampleRange, soundPairs } from '../../media/index.js'
import { compareFaults, type FaultFigures } from '../../voice/index.js'
import type { ObtainedChunk } from '../voice/obtain-chunk.js'

/** A part long enough to show a steady hum. */
const PART_SEC = 20
/** So many parts bound the time that a long film takes. Hum, clipping and a room last. */
const MOST_PARTS = 6

interface SoundFaultsOptions {
  /** The part of the chunk that reaches the output, in samples of its cut. */
  readonly range: SampleRange
  /** Share of the regenerated audio in the output, 0 to 1. */
  readonly share: number
  readonly signal: AbortSignal
}

/**
 * Measures the hum, the clipping and the reverberation of a voice, before and after. It reads the first channel of up to six parts of 20 s,
 * spread over the voice. The figures are those of the parts with the loudest hum and the most reverberation, and means of the
 * clipping.
 */
export async function soundFaults(
  { cut, alignment }: ObtainedChunk,
  { range, share, signal }: SoundFaultsOptions,
): Promise<FaultFigures> {
  const figures: FaultFigures[] = []
  const ranges = spreadParts(range, PART_SEC * cut.sampleRate)
  for await (const { before, after } of soundPairs(cut, alignment, { ranges, share, signal }))
    figures.push(compareFaults(before, after, cut.sampleRate))
  const [hum] = figures.flatMap(({ hum }) => hum ?? []).sort((one, other) => other.levelDb - one.levelDb)
  const [reverberation] = figures
    .flatMap(({ reverberation }) => reverberation ?? [])
    .sort((one, other) => other.levelDb - one.levelDb)
  const clipped = figures.flatMap(({ clipping }) => clipping ?? [])
  const mean = (figure: 'share' | 'shareLeft') => clipped.reduce((sum, each) => sum + each[figure], 0) / figures.length
  return {
    hum: hum ?? null,
    clipping: clipped.length === 0 ? null : { share: mean('share'), shareLeft: mean('shareLeft') },
    reverberation: reverberation ?? null,
  }
}

/** The whole range if it is short, and else parts of it at even distances. */
function spreadParts({ startSample, endSample }: SampleRange, partSamples: number): readonly SampleRange[] {
  const length = endSample - startSample
  const count = Math.min(MOST_PARTS, Math.max(1, Math.ceil(length / partSamples)))
  const size = Math.min(length, partSamples)
  return Array.from({ length: count }, (_, place) => {
    const start = startSample + Math.round(count === 1 ? 0 : (place * (length - size)) / (count - 1))
    return { startSample: start, endSample: start + size }
  })
}
