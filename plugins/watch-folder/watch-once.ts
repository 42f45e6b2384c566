import { type ExitCode, overallExitCode } from '../../src/core/errors.js'
import { sleep } from '../../src/core/time.js'
import type { JobStore } from '../../src/ledger/index.js'
import type { FileEvent } from '../../src/pipeline/events.js'
import type { JobHooks } from '../../src/pipeline/job-hooks.js'
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

/** Resolves when every file that was there has been queued and, unless `ingestOnly`, no job of the folders is ready. */
export async function untilDrained(
  daemon: WatchDaemon,
  folders: readonly WatchedFolder[],
  { jobs, ingestOnly, signal }: { readonly jobs: JobStore; readonly ingestOnly: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const groups = new Set(folders.map(({ group }) => group))
  while (!signal.aborted) {
    if (daemon.isDrained && (ingestOnly || !(await hasReadyJobs(jobs, groups)))) return
    await sleep(ONCE_MS, signal).catch(() => {})
  }
}

/** A job deferred after a fault is left to a later run. */
async function hasReadyJobs(jobs: JobStore, groups: ReadonlySet<string>): Promise<boolean> {
  const counts = (await jobs.counts()).filter(({ group, count }) => groups.has(group) && count > 0)
  if (counts.some(({ status }) => status === 'working' || status === 'waiting-remote')) return true
  const queued = counts.filter(({ status }) => status === 'queued')
  for (const { group, count } of queued) {
    const waiting = await jobs.list({ group, statuses: ['queued'], limit: count })
    if (waiting.some(({ error, notBeforeMs }) => error === null || notBeforeMs === null)) return true
  }
  return false
}
