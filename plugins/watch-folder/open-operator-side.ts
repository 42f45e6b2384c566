import { join } from 'node:path'
import type { Logger } from '../../src/core/logger.js'
import type { Job, JobStore } from '../../src/ledger/index.js'
import type { JobSettings } from '../../src/pipeline/plan/job-settings.js'
import { retryJob } from '../../src/pipeline/queue/retry-job.js'
import type { DaemonView } from './daemon-view.js'
import type { DaemonPhase } from './dashboard/operator-view.js'
import { type Dashboard, startDashboard } from './dashboard/start-dashboard.js'
import { LookedAtJobs, soon } from './intake/looked-at-jobs.js'
import type { Metrics } from './metrics/metrics.js'
import { ServiceManager } from './service-manager.js'

export interface OperatorSideOptions {
  /** The daemon, and how it is told to look for work at once. */
  readonly daemon: DaemonView & { wake(): void; settingsOf(group: string): JobSettings | undefined }
  readonly jobs: JobStore
  /** Where the input of a finished job may lie now, the likeliest first. */
  readonly sourcesOf: (job: Job) => readonly string[]
  /** Whose meter the client of the service was given. */
  readonly metrics: Metrics
  /** Where the page is served; null for no page. */
  readonly dashboard: { readonly port: number; readonly host?: string; readonly hosts?: readonly string[] } | null
  /** What is built for the page is kept here. */
  readonly stateDir: string
  /** Version of voxmux. */
  readonly version: string
  /** For systemd's variables. */
  readonly env: NodeJS.ProcessEnv
  readonly logger: Logger
}

/** What shows the daemon to its operator: the page, the health answers, the metrics, the word to systemd. */
export interface OperatorSide {
  /** Address of the page; null without one. */
  readonly url: string | null
  /** The configuration is read again; to be followed by `ready`, also where it cannot be. */
  reloading(): Promise<void>
  /** The folders are watched, for the first time or after a reload. */
  ready(): Promise<void>
  /** To be called first of all when the daemon ends. */
  stopping(): Promise<void>
  close(): Promise<void>
}

/** @throws UsageError `ERR_PORT_TAKEN` */
export async function openOperatorSide(options: OperatorSideOptions): Promise<OperatorSide> {
  const { daemon, sourcesOf, metrics, version, stateDir, env, logger } = options
  const jobs = new LookedAtJobs(options.jobs)
  const manager = new ServiceManager({ env, logger })
  let phase: DaemonPhase = 'starting'
  metrics.follow({ version, jobs, daemon })
  const retry = async (job: Job) => {
    const settings = daemon.settingsOf(job.group)
    const ready = await soon(retryJob(options.jobs, job, { force: false, settings }))
    daemon.wake()
    return ready
  }
  const dashboard: Dashboard | null =
    options.dashboard &&
    (await startDashboard({
      ...options.dashboard,
      view: { daemon, jobs, sourcesOf, retry, phase: () => phase },
      metrics: { contentType: metrics.registry.contentType, metrics: () => metrics.registry.metrics() },
      comparisonFolder: join(stateDir, 'dashboard'),
      logger,
    }))
  if (dashboard) logger.info({ url: dashboard.url }, `The dashboard is at ${dashboard.url}`)
  return {
    url: dashboard?.url ?? null,
    reloading: () => manager.reloading(),
    ready: () => {
      phase = 'watching'
      return manager.ready(`Watching ${daemon.folders.map(({ path }) => path).join(', ')}`)
    },
    stopping: () => {
      phase = 'stopping'
      return manager.stopping()
    },
    close: async () => {
      await dashboard?.close()
      metrics.close()
    },
  }
}
