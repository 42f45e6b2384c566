import type { Job } from '../../../src/ledger/index.js'
import type { DaemonView } from '../daemon-view.js'
import type { LookedAtJobs } from '../intake/looked-at-jobs.js'

/** `starting`: the folders are not watched yet; `stopping`: nothing more is taken. */
export type DaemonPhase = 'starting' | 'watching' | 'stopping'

/** Everything that the dashboard and the health answers ask of the daemon. */
export interface OperatorView {
  readonly daemon: DaemonView
  phase(): DaemonPhase
  readonly jobs: LookedAtJobs
  /** Where the input of a finished job may lie now, the likeliest first: it may have been moved since. */
  sourcesOf(job: Job): readonly string[]
  /** Puts a job back into the queue, one that failed with the present settings of its folder. */
  retry(job: Job): Promise<Job>
}
