import type { Stage } from '../../../src/pipeline/events.js'
import type { DaemonView } from '../daemon-view.js'

/** How far a job of this process is. */
export interface JobProgress {
  readonly id: string
  readonly stage: Stage
  /** Of the stage, 0 to 100. */
  readonly percent: number
}

/** Remembers of every job in work in this process what it told last. */
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
