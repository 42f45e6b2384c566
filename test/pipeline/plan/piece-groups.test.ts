import { describe, expect, it } from 'vitest'
import { pieceGroups } from '../../../src/pipeline/plan/piece-groups.js'
import type { TrackPlan } from '../../../src/pipeline/plan/plan-tracks.js'

const RATE = 48_000

describe('the pieces of a track', () => {
  it('are read from a few seconds before them, and together if they are near', () => {
    const groups = pieceGroups(track([60, 80, 300]))
    expect(groups.map(({ readFromSample }) => readFromSample / RATE)).toEqual([55, 295])
    expect(groups.map(({ pieces }) => pieces.length)).toEqual([2, 1])
  })

  it('are read from the start of the file if its times are right only from there', () => {
    const groups = pieceGroups(track([60, 300], 0.04))
    expect(groups.map(({ readFromSample }) => readFromSample)).toEqual([0, 0])
  })
})

/** Pieces of five seconds that begin there. */
function track(starts: readonly number[], frameJitterSec?: number): TrackPlan {
  const stream = { sampleRate: RATE, ...(frameJitterSec !== undefined && { frameJitterSec }) }
  const pieces = starts.map((startSec) => ({ cut: { startSample: startSec * RATE, endSample: (startSec + 5) * RATE } }))
  return { stream, pieces } as unknown as TrackPlan
}
