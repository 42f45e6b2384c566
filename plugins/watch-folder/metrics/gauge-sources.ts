import type { SpendingLog } from '../../../src/ledger/index.js'
import type { DaemonView } from '../daemon-view.js'
import type { ShownJobs } from '../dashboard/shown-jobs.js'

/**
 * The sources of the gauges. They are read at every scrape. The types of the package name them, but not those of
 * `prom-client`, which it does not install.
 */
export interface GaugeSources {
  readonly version: string
  readonly jobs: Pick<ShownJobs, 'counts' | 'pauses'>
  readonly spending: Pick<SpendingLog, 'spent'>
  readonly daemon: DaemonView
}
