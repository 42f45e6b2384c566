import { isSameSound, type SampleRange, type SoundChange, soundChange, soundPairs } from '../../media/index.js'
import { compareFaults, type FaultFigures } from '../../voice/index.js'
import { rangesInCut } from '../plan/segments.js'
import type { ObtainedChunk } from '../voice/obtain-chunk.js'
import type { ObtainedPiece } from '../voice/obtain-voices.js'
import { loudest } from './fault-words.js'

/** The change of each chunk; a chunk that could not be compared is absent. */
export type SoundChanges = ReadonlyMap<ObtainedChunk, SoundChange & FaultFigures>

/**
 * Measures how much of the sent voice the output changes, and which faults of it are left. Handles and the overlaps of
 * chunks do not count. A fault here costs only the figures, because the output is paid for.
 *
 * @param share of the regenerated audio in the output, 0 to 1
 */
export async function soundChanges(
  pieces: readonly ObtainedPiece[],
  { share, signal }: { readonly share: number; readonly signal: AbortSignal },
): Promise<SoundChanges> {
  const changes = new Map<ObtainedChunk, SoundChange & FaultFigures>()
  for (const { chunk, ranges } of regeneratedChunks(pieces)) {
    const range = { startSample: ranges[0]?.startSample ?? 0, endSample: ranges.at(-1)?.endSample ?? 0 }
    try {
      const change = await soundChange(chunk.cut, chunk.alignment, { ranges, share, signal })
      changes.set(chunk, { ...change, ...(await soundFaults(chunk, { range, share, signal })) })
    } catch (error) {
      if (signal.aborted) throw error
    }
  }
  return changes
}

/**
 * True if the regenerated audio of all pieces sounds like the sent voice. A part in which the service found no voice
 * counts as the same, and a fault of the comparison as a difference.
 */
export async function isSameThroughout(
  pieces: readonly ObtainedPiece[],
  { share, signal }: { readonly share: number; readonly signal: AbortSignal },
): Promise<boolean> {
  for (const { chunk, ranges } of regeneratedChunks(pieces)) {
    const isSame = await isSameSound(chunk.cut, chunk.alignment, { ranges, share, signal }).catch((error: unknown) => {
      if (signal.aborted) throw error
      return false
    })
    if (!isSame) return false
  }
  return true
}

/** The chunks with regenerated audio, and the parts of each that reach the output. */
function* regeneratedChunks(pieces: readonly ObtainedPiece[]) {
  for (const piece of pieces) {
    for (const [index, chunk] of piece.chunks.entries()) {
      if (chunk.regenerated === null) continue
      yield { chunk, ranges: ownRanges(piece, index, chunk.cut.range.startSample) }
    }
  }
}

/** The parts of a chunk that reach the output, in samples of its cut. */
function ownRanges({ plan, range, joins }: ObtainedPiece, index: number, chunkStart: number): readonly SampleRange[] {
  const own = { startSample: joins[index - 1] ?? range.startSample, endSample: joins[index] ?? range.endSample }
  return rangesInCut(plan.ranges, own).map(({ startSample, endSample }) => ({
    startSample: startSample - chunkStart,
    endSample: endSample - chunkStart,
  }))
}

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
 * Measures the hum, the clipping and the reverberation of a voice, before and after, in the first channel of some parts.
 * The figures are those of the parts with the loudest hum and the most reverberation, and means of the clipping.
 */
async function soundFaults(
  { cut, alignment }: ObtainedChunk,
  { range, share, signal }: SoundFaultsOptions,
): Promise<FaultFigures> {
  const figures: FaultFigures[] = []
  const ranges = spreadParts(range, PART_SEC * cut.sampleRate)
  for await (const { before, after } of soundPairs(cut, alignment, { ranges, share, signal }))
    figures.push(compareFaults(before, after, cut.sampleRate))
  const clipped = figures.flatMap(({ clipping }) => clipping ?? [])
  const mean = (figure: 'share' | 'shareLeft') => clipped.reduce((sum, each) => sum + each[figure], 0) / figures.length
  return {
    hum: loudest(figures.flatMap(({ hum }) => hum ?? [])) ?? null,
    clipping: clipped.length === 0 ? null : { share: mean('share'), shareLeft: mean('shareLeft') },
    reverberation: loudest(figures.flatMap(({ reverberation }) => reverberation ?? [])) ?? null,
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
