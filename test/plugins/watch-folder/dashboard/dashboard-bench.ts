import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { DaemonEvent, DaemonView, FolderView } from '../../../../plugins/watch-folder/daemon-view.js'
import { ShownJobs } from '../../../../plugins/watch-folder/dashboard/shown-jobs.js'
import { type DashboardOptions, startDashboard } from '../../../../plugins/watch-folder/dashboard/start-dashboard.js'
import { type Job, type JobStore, type Ledger, openLedger } from '../../../../src/ledger/index.js'
import type { PageServer } from '../../../../src/pages/page-server.js'

import type { JobSettings } from '../../../../src/pipeline/plan/job-settings.js'
import { retryJob } from '../../../../src/pipeline/queue/retry-job.js'

/** A daemon whose folders and events the test decides; its jobs are in a real ledger. */
export class StagedDaemon implements DaemonView {
  readonly startedMs = Date.now()
  folders: readonly FolderView[] = []
  /** What the folders' jobs are made with now, by group. */
  readonly settings = new Map<string, JobSettings>()
  readonly #listeners = new Set<(event: DaemonEvent) => void>()

  subscribe(listener: (event: DaemonEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  settingsOf(group: string): JobSettings | undefined {
    return this.settings.get(group)
  }

  tell(event: DaemonEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

export interface StagedDashboard {
  readonly daemon: StagedDaemon
  readonly dashboard: PageServer
  /** Jobs that were sent back into the queue by the page. */
  readonly retried: readonly Job[]
}

/** A dashboard over jobs and a staged daemon. */
export async function stageDashboard(
  jobs: JobStore,
  folder: string,
  options: Partial<DashboardOptions> = {},
): Promise<StagedDashboard> {
  const daemon = new StagedDaemon()
  const retried: Job[] = []
  const dashboard = await startDashboard({
    view: {
      ...{ daemon, jobs: new ShownJobs(jobs), sourcesOf: ({ input }) => [input], phase: () => 'watching' },
      version: '1.2.3',
      setPaused: (group, isPaused) => (isPaused ? jobs.pause(group, 'By a person.') : jobs.resume(group)),
      forget: ({ id }) => jobs.forget(id),
      retry: async (job) => {
        retried.push(job)
        return retryJob(jobs, job, { force: false })
      },
    },
    metrics: { contentType: 'text/plain', metrics: async () => 'voxmux_up 1\n' },
    comparisonFolder: join(folder, 'comparisons'),
    port: 0,
    ...options,
  })
  return { daemon, dashboard, retried }
}

export interface DashboardBench extends StagedDashboard {
  readonly ledger: Ledger
  /** The token that the page carries. */
  token(): Promise<string>
}

/** Sets up a dashboard over an empty ledger around each test of the file that calls it. */
export function dashboardBench(hosts: readonly string[] = []): DashboardBench {
  let folder: string
  let ledger: Ledger
  let staged: StagedDashboard
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'voxmux-dashboard-'))
    ledger = await openLedger(join(folder, 'ledger.sqlite'))
    staged = await stageDashboard(ledger.jobs, folder, { hosts })
  })
  afterEach(async () => {
    await staged.dashboard.close()
    await ledger.close()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    get ledger() {
      return ledger
    },
    get daemon() {
      return staged.daemon
    },
    get dashboard() {
      return staged.dashboard
    },
    get retried() {
      return staged.retried
    },
    async token() {
      const page = await (await fetch(staged.dashboard.url)).text()
      return /name="voxmux-token" content="([^"]+)"/.exec(page)?.[1] ?? ''
    },
  }
}

/** A watched folder in good order. */
export function folderView(path: string, more: Partial<FolderView> = {}): FolderView {
  return {
    group: path,
    path,
    out: join(path, 'out'),
    failed: join(path, 'failed'),
    preset: 'transparent',
    state: 'watching',
    reason: null,
    noticedBy: 'events',
    waitingFiles: 0,
    scannedMs: Date.now(),
    ...more,
  }
}

/** Puts a job into the ledger that has failed as files fail. */
export async function failedJob(ledger: Pick<Ledger, 'jobs'>, group: string, input: string): Promise<Job> {
  await ledger.jobs.enqueue({ key: input, group, input, preset: 'transparent' })
  const claim = await ledger.jobs.claim(input)
  if (claim.outcome !== 'claimed') throw new Error(`${input} is ${claim.outcome}`)
  return ledger.jobs.fail(claim.lease, {
    status: 'rejected',
    error: {
      code: 'ERR_SEVERAL_TRACKS',
      errorCode: -8,
      name: 'MultiTrackAudioNotSupported',
      message: 'The file has 2 audio tracks, and none was chosen.',
      remedies: [
        'Choose one with --track N, --track default or --track lang:xxx.',
        'Use --track all to regenerate every audio track.',
      ],
    },
  })
}
