import type { ProgressEvent } from '../../../src/pipeline/events.js'
import type { DaemonView } from '../daemon-view.js'

/** The stage of a job in this process, and its progress. */
export type JobStage = Readonly<Pick<ProgressEvent, 'id' | 'stage' | 'percent'>>

/** The latest progress of every job that runs in this process. */
export function progressBoard(daemon: DaemonView) {
  const jobs = new Map<string, JobStage>()
  const close = daemon.subscribe((event) => {
    if (event.event === 'progress') jobs.set(event.id, event)
    else if (event.event === 'file') jobs.delete(event.id)
  })
  return { get: (id: string) => jobs.get(id), close }
}
export type ProgressBoard = ReturnType<typeof progressBoard>
