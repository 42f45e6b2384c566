import type { StageProgress } from './context.js'

/** The stages that a voice file goes through by itself. */
export type PartStage = 'upload' | 'process' | 'download' | 'align'
export type PartProgress = (stage: PartStage, percent: number) => void

/** The progress of several voice files as one: the mean, stage by stage. */
export class JointProgress {
  readonly #count: number
  readonly #tell: StageProgress
  readonly #percents = new Map<PartStage, number[]>()
  #parts = 0

  constructor(count: number, tell: StageProgress) {
    this.#count = count
    this.#tell = tell
    // Where nothing is sent (all silent), nothing is left to be done either.
    if (count === 0) for (const stage of ['upload', 'process', 'download', 'align'] as const) tell(stage, 100)
  }

  /** The next one's own progress. */
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
