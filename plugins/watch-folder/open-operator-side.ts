import { join } from 'node:path'
import type { Logger } from '../../src/core/logger.js'
import type { Job, JobStore, SpendingLog } from '../../src/ledger/index.js'
import type { PageServer } from '../../src/pages/page-server.js'
import type { JobSettings } from '../../src/pipeline/plan/job-settings.js'
import { retryJob } from '../../src/pipeline/queue/retry-job.js'
import type { DaemonView, FolderView } from './daemon-view.js'
import type { DaemonPhase } from './dashboard/operator-view.js'
import { ShownJobs, withinPatience } from './dashboard/shown-jobs.js'
import { type DashboardOptions, startDashboard } from './dashboard/start-dashboard.js'
import type { Metrics } from './metrics/metrics.js'
import { ServiceManager } from './service-manager.js'

interface OperatorSideOptions {
  /** The daemon, with a way to make it look for jobs at once. */
  readonly daemon: DaemonView & { wake(): void; settingsOf(group: string): JobSettings | undefined }
  readonly jobs: JobStore
  readonly spending: SpendingLog
  /** Possible paths of a finished job's input, the likeliest first. */
  readonly sourcesOf: (job: Job) => readonly string[]
  /** Its meter was given to the client of the service. */
  readonly metrics: Metrics
  /** Address of the page; null for no page. */
  readonly dashboard: Pick<DashboardOptions, 'port' | 'host' | 'hosts'> | null
  /** Holds what is built for the page. */
  readonly stateDir: string
  readonly version: string
  /** For the variables of systemd. */
  readonly env: NodeJS.ProcessEnv
  readonly logger: Logger
}

/** The operator's side of the daemon: page, health checks, metrics and messages to systemd. */
export interface OperatorSide {
  /** Address of the page; null without one. */
  readonly url: string | null
  /** Announces that the configuration is read again. `ready` must follow, even if reading fails. */
  reloading(): Promise<void>
  /** Announces that the folders are watched, at first or after a reload. */
  ready(): Promise<void>
  /** Announces the end. Call it first when the daemon stops. */
  stopping(): Promise<void>
  close(): Promise<void>
}

/** The reason of a pause that a person made. */
const PAUSED_HERE = 'It was paused on the dashboard. Press Resume to continue.'

/** Opens the operator's side. @throws {UsageError} `ERR_PORT_TAKEN` */
export async function openOperatorSide(options: OperatorSideOptions): Promise<OperatorSide> {
  const { daemon, spending, sourcesOf, metrics, version, stateDir, env, logger } = options
  const jobs = new ShownJobs(options.jobs)
  const manager = new ServiceManager({ env, logger })
  let phase: DaemonPhase = 'starting'
  let status = ''
  metrics.follow({ version, jobs, spending, daemon })
  const retry = async (job: Job) => {
    const settings = daemon.settingsOf(job.group)
    const ready = await withinPatience(retryJob(options.jobs, job, { force: false, settings }))
    daemon.wake()
    return ready
  }
  const forget = (job: Job) => withinPatience(options.jobs.forget(job.id))
  const setPaused = async (group: string, isPaused: boolean) => {
    await withinPatience(isPaused ? options.jobs.pause(group, PAUSED_HERE) : options.jobs.resume(group))
    daemon.wake()
  }
  const dashboard: PageServer | null =
    options.dashboard &&
    (await startDashboard({
      ...options.dashboard,
      view: { daemon, jobs, sourcesOf, retry, forget, setPaused, version, phase: () => phase },
      metrics,
      comparisonFolder: join(stateDir, 'dashboard'),
      logger,
    }))
  if (dashboard) logger.info({ url: dashboard.url }, `The dashboard is at ${dashboard.url}`)
  const unsubscribe = daemon.subscribe(({ event }) => {
    if (event !== 'folder' || phase !== 'watching' || statusOf(daemon.folders) === status) return
    status = statusOf(daemon.folders)
    void manager.status(status)
  })
  return {
    url: dashboard?.url ?? null,
    reloading: () => manager.reloading(),
    ready: () => {
      phase = 'watching'
      status = statusOf(daemon.folders)
      return manager.ready(status)
    },
    stopping: () => {
      phase = 'stopping'
      return manager.stopping()
    },
    close: async () => {
      unsubscribe()
      await dashboard?.close()
      metrics.close()
    },
  }
}

/** The folders that are watched, and why each other one is offline. */
function statusOf(folders: readonly FolderView[]): string {
  const watched = folders.filter(({ reason }) => reason === null).map(({ path }) => path)
  const reasons = folders.flatMap(({ reason }) => reason ?? [])
  return [...(watched.length > 0 ? [`Watching ${watched.join(', ')}`] : []), ...reasons].join('; ')
}
