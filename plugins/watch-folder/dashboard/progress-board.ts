import type { Stage } from '../../../src/pipeline/events.js'
import type { DaemonView } from '../daemon-view.js'

/** Progress of a job in this process. */
export interface JobProgress {
  readonly id: string
  readonly stage: Stage
  /** Progress of the stage, 0 to 100. */
  readonly percent: number
}

/** The latest progress of every job that runs in this process. */
export class ProgressBoard {
  readonly #jobs = new Map<string, JobProgress>()
  readonly #leave: () => void

  constructor(daemon: DaemonView) {
    this.#leave = daemon.subscribe((event) => {
      if (event.event === 'progress') this.#jobs.set(event.id, event)
      else if (event.event === 'file') this.#jobs.delete(event.id)
    })
  }

  get(id: string): JobProgress | undefined {
    return this.#jobs.get(id)
  }

  close(): void {
    this.#leave()
  }
}
