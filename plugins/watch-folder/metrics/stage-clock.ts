import { performance } from 'node:perf_hooks'
import type { JobEvent, Stage } from '../../../src/pipeline/events.js'

interface StageTime {
  readonly startMs: number
  readonly endMs: number
}

interface RunningJob {
  lastMs: number
  readonly stages: Map<Stage, StageTime>
}

/**
 * Measures the stages of jobs by what the jobs tell. Many a stage says nothing before it is done: so a stage lasts from
 * the last word before its first to its own last. Stages of parts that overlap are each measured over all parts.
 */
export class StageClock {
  readonly #onStage: (stage: Stage, sec: number) => void
  readonly #nowMs: () => number
  readonly #jobs = new Map<string, RunningJob>()

  /** @param onStage told of every stage of a job, when the job ends or is put off */
  constructor(onStage: (stage: Stage, sec: number) => void, nowMs: () => number = () => performance.now()) {
    this.#onStage = onStage
    this.#nowMs = nowMs
  }

  take(event: JobEvent): void {
    const nowMs = this.#nowMs()
    if (event.event === 'file') {
      for (const [stage, { startMs, endMs }] of this.#jobs.get(event.id)?.stages ?? [])
        this.#onStage(stage, (endMs - startMs) / 1000)
      this.#jobs.delete(event.id)
      return
    }
    const job = this.#jobs.get(event.id) ?? { lastMs: nowMs, stages: new Map() }
    const known = job.stages.get(event.stage)
    job.stages.set(event.stage, { startMs: known?.startMs ?? job.lastMs, endMs: nowMs })
    job.lastMs = nowMs
    this.#jobs.set(event.id, job)
  }
}
