import { type ExitCode, overallExitCode } from '../../src/core/errors.js'
import { sleep } from '../../src/core/time.js'
import type { JobCount, JobStore } from '../../src/ledger/index.js'
import type { FileEvent } from '../../src/pipeline/events.js'
import type { JobHooks } from '../../src/pipeline/job-hooks.js'
import { isAccountPause } from '../../src/pipeline/queue/account-guard.js'
import type { WatchDaemon } from './watch-daemon.js'
import type { WatchedFolder } from './watched-folder.js'

/** How often `--once` checks whether all is done. */
const ONCE_MS = 100

/** The latest end of each file that `--once` found. */
export class WatchTally {
  readonly #files = new Map<string, FileEvent>()
  readonly #exitCodes = new Map<string, ExitCode>()

  /** Records the exit code of each failure, which no event contains. */
  readonly hooks: JobHooks = {
    name: 'tally',
    onFailure: ({ id, error }) => void this.#exitCodes.set(id, error.exitCode),
  }

  /** Adds an event. A file that was deferred and ended later counts as it ended. */
  add(event: FileEvent): void {
    this.#files.set(event.id, event)
    if (event.status === 'done' || event.status === 'skipped') this.#exitCodes.delete(event.id)
  }

  get files(): readonly FileEvent[] {
    return [...this.#files.values()]
  }

  /** The gravest end. A deferred file may succeed another time. */
  get exitCode(): ExitCode {
    return overallExitCode(
      this.files.map(({ id, status }) => (status === 'pending' ? 4 : (this.#exitCodes.get(id) ?? 0))),
    )
  }
}

/**
 * Resolves when every file that was there has been queued and, unless `ingestOnly`, no job of the folders is ready. Those
 * of a paused folder are not.
 *
 * @returns the exit code for what is left: 6 if the account is paused, 4 if a folder is away or jobs are queued, else 0
 */
export async function untilDrained(
  daemon: WatchDaemon,
  folders: readonly WatchedFolder[],
  { jobs, ingestOnly, signal }: { readonly jobs: JobStore; readonly ingestOnly: boolean; readonly signal: AbortSignal },
): Promise<ExitCode> {
  const groups = new Set(folders.map(({ group }) => group))
  while (!signal.aborted) {
    if (daemon.isDrained && (ingestOnly || !(await hasReadyJobs(daemon, jobs, groups)))) break
    await sleep(ONCE_MS, signal).catch(() => {})
  }
  const left = ingestOnly ? 0 : await exitCodeOfQueued(jobs, groups)
  return overallExitCode([left, daemon.hasFolderAway ? 4 : 0])
}

/** A job deferred after a fault is left to a later run. */
async function hasReadyJobs(daemon: WatchDaemon, jobs: JobStore, groups: ReadonlySet<string>): Promise<boolean> {
  const counts = await countsOf(jobs, groups)
  if (counts.some(({ status }) => status === 'working' || status === 'waiting-remote')) return true
  const queued = counts.filter(({ status }) => status === 'queued')
  const pauses = await jobs.pauses()
  // A start usually follows a correction, so the pause of an earlier run is not believed.
  if (pauses.some(isAccountPause) && queued.length > 0 && !daemon.hasTriedAccount) return true
  for (const { group, count } of queued) {
    if (pauses.some((pause) => pause.group === null || pause.group === group)) continue
    const waiting = await jobs.list({ group, statuses: ['queued'], limit: count })
    if (waiting.some(({ error, notBeforeMs }) => error === null || notBeforeMs === null)) return true
  }
  return false
}

async function exitCodeOfQueued(jobs: JobStore, groups: ReadonlySet<string>): Promise<ExitCode> {
  if (!(await countsOf(jobs, groups)).some(({ status }) => status === 'queued')) return 0
  return (await jobs.pauses()).some(isAccountPause) ? 6 : 4
}

async function countsOf(jobs: JobStore, groups: ReadonlySet<string>): Promise<readonly JobCount[]> {
  return (await jobs.counts()).filter(({ group, count }) => groups.has(group) && count > 0)
}
