import type { Job, JobStore } from 'voxmux'
import type { DaemonView } from '../daemon-view.js'

/** Everything that the dashboard and the health answers ask of the daemon. */
export interface OperatorView {
  readonly daemon: DaemonView
  readonly jobs: Pick<JobStore, 'list' | 'get' | 'counts' | 'requeue' | 'pauses'>
  /** Where the input of a finished job lies now: it may have been moved since. */
  sourceOf(job: Job): string
  /** A job went back into the queue: look for work now. */
  onRetry(job: Job): void
}
