import type { Job, JobStore } from 'voxmux'
import type { DaemonView } from '../daemon-view.js'

/** `starting`: the folders are not watched yet; `stopping`: nothing more is taken. */
export type DaemonPhase = 'starting' | 'watching' | 'stopping'

/** Everything that the dashboard and the health answers ask of the daemon. */
export interface OperatorView {
  readonly daemon: DaemonView
  phase(): DaemonPhase
  readonly jobs: Pick<JobStore, 'list' | 'get' | 'counts' | 'requeue' | 'pauses'>
  /** Where the input of a finished job may lie now, the likeliest first: it may have been moved since. */
  sourcesOf(job: Job): readonly string[]
  /** A job went back into the queue: look for work now. */
  onRetry(job: Job): void
}
