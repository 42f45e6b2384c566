import { isSameSound, type SoundChange, soundChange } from '../../media/index.js'
import type { FaultFigures } from '../../voice/index.js'
import { closeRange } from '../plan/segments.js'
import type { ObtainedChunk } from '../voice/obtain-chunk.js'
import type { ObtainedPiece } from '../voice/obtain-voices.js'
import { soundFaults } from './sound-faults.js'

/** The change of each chunk; a chunk that could not be compared is absent. */
export type SoundChanges = ReadonlyMap<ObtainedChunk, SoundChange & FaultFigures>

/**
 * Measures how much of the sent voice the output changes, and which faults of it are left. Handles and the overlaps of chunks do not count. A fault here
 * costs only the figures, because the output is paid for.
 *
 * @param share of the regenerated audio in the output, 0 to 1
 */
export async function soundChanges(
  pieces: readonly ObtainedPiece[],
  { share, signal }: { readonly share: number; readonly signal: AbortSignal },
): Promise<SoundChanges> {
  const changes = new Map<ObtainedChunk, SoundChange & FaultFigures>()
  for (const piece of pieces) {
    for (const [index, chunk] of piece.chunks.entries()) {
      if (chunk.regenerated === null) continue
      const range = ownRange(piece, index, chunk.cut.range.startSample)
      try {
        const change = await soundChange(chunk.cut, chunk.alignment, { range, share, signal })
        changes.set(chunk, { ...change, ...(await soundFaults(chunk, { range, share, signal })) })
      } catch (error) {
        if (signal.aborted) throw error
      }
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
  for (const piece of pieces) {
    for (const [index, { cut, alignment, regenerated }] of piece.chunks.entries()) {
      if (regenerated === null) continue
      const range = ownRange(piece, index, cut.range.startSample)
      const isSame = await isSameSound(cut, alignment, { range, share, signal }).catch((error: unknown) => {
        if (signal.aborted) throw error
        return false
      })
      if (!isSame) return false
    }
  }
  return true
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
