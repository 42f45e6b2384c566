import { type SoundChange, soundChange } from '../../media/index.js'
import { closeRange } from '../plan/segments.js'
import type { ObtainedChunk } from '../voice/obtain-chunk.js'
import type { ObtainedPiece } from '../voice/obtain-voices.js'

/** The change of each chunk; a chunk that could not be compared is absent. */
export type SoundChanges = ReadonlyMap<ObtainedChunk, SoundChange>

/**
 * Measures how much of the sent voice the output changes. Handles and the overlaps of chunks do not count. A fault here
 * costs only the figures, because the output is paid for.
 *
 * @param share of the regenerated audio in the output, 0 to 1
 */
export async function soundChanges(
  pieces: readonly ObtainedPiece[],
  { share, signal }: { readonly share: number; readonly signal: AbortSignal },
): Promise<SoundChanges> {
  const changes = new Map<ObtainedChunk, SoundChange>()
  for (const piece of pieces) {
    for (const [index, chunk] of piece.chunks.entries()) {
      if (chunk.regenerated === null) continue
      const range = ownRange(piece, index, chunk.cut.range.startSample)
      const change = await soundChange(chunk.cut, chunk.alignment, { range, share, signal }).catch((error: unknown) => {
        if (signal.aborted) throw error
      })
      if (change) changes.set(chunk, change)
    }
  }
  return changes
}

/** The part of a chunk that reaches the output, in samples of its cut. */
function ownRange({ plan, range, joins }: ObtainedPiece, index: number, chunkStart: number) {
  const { startSample, endSample } = closeRange(plan.range, range.endSample)
  const bounds = [startSample, ...joins, endSample]
  return {
    startSample: (bounds[index] ?? startSample) - chunkStart,
    endSample: (bounds[index + 1] ?? endSample) - chunkStart,
  }
}
