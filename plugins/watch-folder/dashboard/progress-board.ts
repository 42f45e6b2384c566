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
export function progressBoard(daemon: DaemonView) {
  const jobs = new Map<string, JobProgress>()
  const close = daemon.subscribe((event) => {
    if (event.event === 'progress') jobs.set(event.id, event)
    else if (event.event === 'file') jobs.delete(event.id)
  })
  return { get: (id: string) => jobs.get(id), close }
}
export type ProgressBoard = ReturnType<typeof progressBoard>
