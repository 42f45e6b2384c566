import { sep } from 'node:path'
import PQueue from 'p-queue'
import { toVoxmuxError } from '../../src/core/errors.js'
import type { Logger } from '../../src/core/logger.js'
import type { PipelineContext } from '../../src/pipeline/context.js'
import type { JobHooks } from '../../src/pipeline/job-hooks.js'
import type { JobSettings } from '../../src/pipeline/plan/job-settings.js'
import { type JobWorker, openJobWorker } from '../../src/pipeline/queue/job-worker.js'
import { WriterWatch } from './candidates/writer-watch.js'
import type { DaemonEvent, DaemonView, FolderView } from './daemon-view.js'
import { FolderWatch } from './folder-watch.js'
import { refuseSameFolder, refuseUnknown } from './folders/prepare-folder.js'
import { FolderHooks, type NoticeSettings } from './hooks/folder-hooks.js'
import { Intake, type IntakeResult } from './intake/intake.js'
import { openSeenFiles, type SeenFiles } from './intake/seen-files.js'
import { closedFolders, type WatchedFolder } from './watched-folder.js'

interface WatchDaemonOptions {
  readonly context: PipelineContext
  /** Identifies the ledger. Daemons of others do not watch the same folder. */
  readonly ledgerId: string
  /** SQLite file of the known files, created if it does not exist. */
  readonly seenFile: string
  /** Jobs at the same time; 0 only queues them, for workers elsewhere. */
  readonly concurrency: number
  readonly notices: NoticeSettings
  /** True to wait for folders that never existed, which may be on a share. False refuses them. */
  readonly waitsForFolders: boolean
  readonly logger: Logger
  /** Called for its jobs after its own hooks. */
  readonly hooks?: readonly JobHooks[]
}

/** Files judged at once over all folders. Each takes an ffprobe. */
const JUDGED_AT_ONCE = 2

/** The daemon: its folders and the worker that runs their jobs. */
export class WatchDaemon implements DaemonView {
  readonly #options: WatchDaemonOptions
  readonly #seen: SeenFiles
  readonly #judging = new PQueue({ concurrency: JUDGED_AT_ONCE })
  readonly #writers = new WriterWatch()
  readonly #listeners = new Set<(event: DaemonEvent) => void>()
  readonly #watches = new Map<string, FolderWatch>()
  /** The configuration with which each group is watched. */
  readonly #configured = new Map<string, string>()
  /** Groups that the worker serves. */
  #groups = ''
  #worker: JobWorker | null = null
  #stopped: Promise<void> | undefined

  constructor(options: WatchDaemonOptions) {
    this.#options = options
    this.#seen = openSeenFiles(options.seenFile)
  }

  get folders(): readonly FolderView[] {
    return [...this.#watches.values()].map(({ view }) => view)
  }

  /** The present settings of a folder's jobs; undefined for one that is not watched. */
  settingsOf(group: string): JobSettings | undefined {
    return this.#watches.get(group)?.folder.settings
  }

  /** True if nothing that was there is left to take. */
  get isDrained(): boolean {
    return [...this.#watches.values()].every(({ isDrained: isWorkedOff }) => isWorkedOff)
  }

  /** True if a folder is offline, or its files cannot be listed. */
  get hasFolderAway(): boolean {
    return [...this.#watches.values()].some(({ isAway }) => isAway)
  }

  /** True unless its worker has yet to find out whether the service takes an account whose jobs are paused. */
  get hasTriedAccount(): boolean {
    return this.#worker?.hasTriedAccount ?? true
  }

  subscribe(listener: (event: DaemonEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Watches exactly these folders and creates those of their outputs and reports. Unchanged folders are not disturbed.
   *
   * @throws {UsageError} `ERR_WATCH_FOLDER` if a folder cannot be what it is configured to be, `ERR_INPUT_MISSING`
   */
  async watch(folders: readonly WatchedFolder[]): Promise<void> {
    if (this.#watches.size === 0)
      await refuseUnknown(folders, ({ group, path }) => this.#seen.mountOf(group, path) !== null, {
        waits: this.#options.waitsForFolders,
      })
    await refuseSameFolder(folders)
    const wanted = new Set(folders.map(({ group }) => group))
    for (const watch of await this.#newWatches(folders)) {
      const { folder } = watch
      await this.#watches.get(folder.group)?.stop()
      this.#configured.set(folder.group, asConfigured(folder, folders))
      this.#watches.set(folder.group, watch)
      watch.start()
      const { path, out, settings } = folder
      if (!watch.isAway) this.#options.logger.info({ folder: path, out, preset: settings.preset }, 'watching')
    }
    const dropped = [...this.#watches].filter(([group]) => !wanted.has(group))
    for (const [group, watch] of dropped) {
      // If the rest fails, the next configuration drops it again, or watches it again.
      this.#configured.delete(group)
      await watch.stop()
    }
    // Its folders are known until no job of it runs, so that none ends without its aftercare.
    await this.#workFor([...wanted])
    for (const [group, watch] of dropped) {
      await watch.presence.leave()
      this.#watches.delete(group)
    }
  }

  /** The watches of new and changed folders. All are examined before one begins, so that a wrong folder changes nothing. */
  async #newWatches(folders: readonly WatchedFolder[]): Promise<readonly FolderWatch[]> {
    const watches: FolderWatch[] = []
    for (const folder of folders) {
      const { group } = folder
      if (this.#watches.has(group) && asConfigured(folder, folders) === this.#configured.get(group)) continue
      const watch = this.#watchOf(folder, folders)
      await watch.presence.look()
      watches.push(watch)
    }
    return watches
  }

  /** Accepts the present mount points of folders, even if the share that they were on is gone: they moved for good. */
  acceptMounts(folders: readonly WatchedFolder[]): void {
    for (const { group } of folders) this.#seen.removeMounts(group)
  }

  /** Looks for jobs at once, because one was made ready without the daemon. */
  wake(): void {
    this.#worker?.wake()
  }

  /** Stops the intake, releases the running jobs, and resolves when that is recorded. */
  async stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    await this.#stopped
  }

  async #stop(): Promise<void> {
    // At once: a share that hangs must not keep the worker from releasing its jobs.
    await Promise.all([this.#worker?.stop(), ...[...this.#watches.values()].map((watch) => watch.stop())])
    // Nobody watches for the return of a folder now. Each job looks for its folders itself.
    await Promise.all([...this.#watches.values()].map(({ presence }) => presence.leave().catch(() => {})))
    this.#judging.clear()
    await this.#judging.onIdle()
    this.#seen.close()
  }

  #watchOf(folder: WatchedFolder, folders: readonly WatchedFolder[]): FolderWatch {
    const { context, ledgerId, logger } = this.#options
    const watch = new FolderWatch({
      ...{ folder, closed: closedFolders(folders, folder), jobs: context.jobs, ledgerId, seen: this.#seen },
      intake: new Intake(folder, context, this.#seen),
      ...{ judging: this.#judging, writers: this.#writers, logger },
      onTaken: (taken) => this.#taken(folder, taken),
      onChange: () => this.#tell({ event: 'folder', folder: watch.view }),
    })
    return watch
  }

  /** The worker runs only the jobs of these folders, because a store may hold others. */
  async #workFor(groups: readonly string[]): Promise<void> {
    const { concurrency, context, notices, logger } = this.#options
    const names = groups.toSorted().join('\n')
    if (concurrency === 0 || names === this.#groups) return
    this.#groups = names
    const before = this.#worker
    this.#worker = null
    await before?.stop()
    if (groups.length === 0) return
    const hooks = new FolderHooks({
      foldersOf: ({ group }) => this.#watches.get(group)?.used,
      ...{ notices, logger },
    })
    this.#worker = openJobWorker(context, {
      ...{ concurrency, groups, hooks: [hooks, ...(this.#options.hooks ?? [])], logger },
      onEvent: (event) => this.#tell(event),
    })
    this.#worker.start()
  }

  #taken({ path, group }: WatchedFolder, taken: IntakeResult): void {
    if (taken.outcome === 'later' || taken.outcome === 'output') return
    const { id, input, status } = taken.job
    const { logger } = this.#options
    if (taken.outcome === 'known') {
      logger.info({ job: id, input, status, folder: path }, 'known already')
      return
    }
    logger.info({ job: id, input, folder: path }, 'queued')
    this.#tell({ event: 'queued', id, input, group })
    this.wake()
  }

  #tell(event: DaemonEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#options.logger.error({ cause: toVoxmuxError(error).message }, 'A listener failed.')
      }
    }
  }
}

/** Everything that decides how a folder is watched. Other folders count only if they lie within it and are left out. */
function asConfigured(folder: WatchedFolder, folders: readonly WatchedFolder[]): string {
  const within = [...closedFolders(folders, folder)].filter((path) => path.startsWith(folder.path + sep))
  return JSON.stringify([folder, within.sort()])
}
