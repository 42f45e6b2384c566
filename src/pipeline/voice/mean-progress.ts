import type { StageProgress } from '../context.js'
import { PART_STAGES } from '../events.js'

type PartStage = (typeof PART_STAGES)[number]
export type PartProgress = (stage: PartStage, percent: number) => void

/** Shows the progress of several voice files as one: the mean of each stage. @returns the progress of the next voice file */
export function meanProgress(count: number, tell: StageProgress): () => PartProgress {
  const stages = new Map<PartStage, number[]>()
  let parts = 0
  // If nothing is sent (all silent), these stages are complete.
  if (count === 0) for (const stage of PART_STAGES) tell(stage, 100)
  return () => {
    const index = parts++
    return (stage, percent) => {
      const percents = stages.get(stage) ?? new Array<number>(count).fill(0)
      percents[index] = percent
      stages.set(stage, percents)
      tell(stage, percents.reduce((sum, value) => sum + value, 0) / count)
    }
  }
}
