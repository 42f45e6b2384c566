import type { StageProgress } from '../context.js'

/** The stages that each voice file passes separately. */
type PartStage = 'upload' | 'process' | 'download' | 'align'
export type PartProgress = (stage: PartStage, percent: number) => void

/** The joint progress of several voice files: the mean of each stage. */
export class JointProgress {
  readonly #count: number
  readonly #tell: StageProgress
  readonly #percents = new Map<PartStage, number[]>()
  #parts = 0

  constructor(count: number, tell: StageProgress) {
    this.#count = count
    this.#tell = tell
    // If nothing is sent (all silent), these stages are complete.
    if (count === 0) for (const stage of ['upload', 'process', 'download', 'align'] as const) tell(stage, 100)
  }

  /** The progress of the next voice file. */
  part(): PartProgress {
    const index = this.#parts++
    return (stage, percent) => {
      const percents = this.#percents.get(stage) ?? new Array<number>(this.#count).fill(0)
      percents[index] = percent
      this.#percents.set(stage, percents)
      this.#tell(stage, percents.reduce((sum, value) => sum + value, 0) / this.#count)
    }
  }
}
