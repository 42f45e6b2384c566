import type { Job } from '../../../src/ledger/index.js'
import type { DaemonView } from '../daemon-view.js'
import type { ShownJobs } from './shown-jobs.js'

/** `starting`: the folders are not watched yet; `stopping`: no more files are taken. */
export type DaemonPhase = 'starting' | 'watching' | 'stopping'

/** The parts of the daemon that the dashboard and the health checks use. */
export interface OperatorView {
  readonly daemon: DaemonView
  phase(): DaemonPhase
  readonly jobs: ShownJobs
  /** Possible paths of a finished job's input, the likeliest first: it may have been moved. */
  sourcesOf(job: Job): readonly string[]
  /** The running version of voxmux. */
  readonly version: string
  /** Pauses a folder for a person, or ends that: its jobs wait meanwhile. */
  setPaused(group: string, isPaused: boolean): Promise<void>
  /** Queues a job again. A failed one gets the present settings of its folder. */
  retry(job: Job): Promise<Job>
  /** Deletes a job. Returns false if a live worker holds it. */
  forget(job: Job): Promise<boolean>
}
