import { dirname, join } from 'node:path'
import { errorReport, TransientError, UsageError } from '../../../src/core/errors.js'
import { fileSha256 } from '../../../src/core/file-identity.js'
import type { Logger } from '../../../src/core/logger.js'
import { REPAIRED_IN_PLACE } from '../../../src/pipeline/job/job-endings.js'
import type { FailedJob, JobFacts, JobHooks, PublishedJob } from '../../../src/pipeline/job-hooks.js'
import { reportPath } from '../../../src/pipeline/plan/output-path.js'
import { fileFacts } from '../candidates/file-facts.js'
import { requireInside } from '../folders/require-inside.js'
import type { UsedFolders } from '../folders/used-folders.js'
import { contentId } from '../intake/content-id.js'
import { isStill, type ReadFile, type TakenFile, takenFileOf } from '../intake/taken-file.js'
import type { Aftercare } from '../watched-folder.js'
import { type AfterFacts, callAfter } from './call-after.js'
import { FailureReports, withRetry } from './failure-reports.js'
import { moveMarker, moveSource } from './move-source.js'

/** Delay of a job whose folder is offline or whose file is still changing. */
const AWAY_MS = 5000
const MOVED_MS = 2000
const CLOSED_MS = 15_000
/** Faults that mean that the file no longer belongs to this job. Such a job was tried for a day already. */
const PASSED_CODES: ReadonlySet<string> = new Set(['ERR_INPUT_MOVED', 'ERR_INPUT_CHANGED'])

interface FolderHooksOptions {
  /** The folders of a job's folder; undefined for another daemon's. */
  readonly foldersOf: (job: JobFacts) => UsedFolders | undefined
  readonly notices: NoticeSettings
  readonly logger: Logger
}

/** Settings of the commands and webhooks of all folders. */
export interface NoticeSettings {
  /** Signs webhooks; null sends them unsigned. */
  readonly secret: string | null
  /** Address at which people reach the dashboard; null without one. */
  readonly dashboardUrl: () => string | null
}

/** The job's file and folder. */
interface WatchedFile {
  readonly used: UsedFolders
  readonly folder: Aftercare
  readonly taken: TakenFile
}

/** The steps of a watched folder in the life of its jobs: shares that go away, files that move, what follows. */
export class FolderHooks implements JobHooks {
  readonly name = 'watch folder'
  readonly #options: FolderHooksOptions

  constructor(options: FolderHooksOptions) {
    this.#options = options
  }

  async beforePlan(job: JobFacts): Promise<undefined> {
    const watched = this.#watchedFile(job)
    if (!watched) return
    await requirePresent(watched, job)
    await requireUnchanged(job, watched.taken)
  }

  async afterPlan(job: JobFacts & { readonly output: string }): Promise<undefined> {
    const watched = this.#watchedFile(job)
    if (!watched) return
    // Planning may have waited for its turn.
    await requirePresent(watched, job)
    await requireInside(watched.folder.out, dirname(job.output))
  }

  async excuse(job: FailedJob): Promise<number | undefined> {
    const watched = this.#watchedFile(job)
    if (!watched) return undefined
    if ((await watched.used.absence({ make: false })) !== null) return AWAY_MS
    if (REPAIRED_IN_PLACE.has(job.error.code)) return CLOSED_MS
    if (PASSED_CODES.has(job.error.code)) return undefined
    const facts = await fileFacts(job.input).catch(() => undefined)
    return facts && isStill(watched.taken, facts) ? undefined : MOVED_MS
  }

  async afterPublish(job: PublishedJob): Promise<void> {
    const watched = this.#watchedFile(job)
    if (!watched) return
    const { failed, path } = watched.folder
    const reports = new FailureReports(failed, path)
    await this.#unlessLinked(job, 'The report was not removed', () => reports.remove(watched.taken.path))
    const moved = await this.#unlessLinked(job, 'The source was not moved', () => settledSource(watched, job))
    const source = moved ?? join(path, watched.taken.path)
    if (source !== job.input)
      this.#options.logger.info({ job: job.id, from: job.input, to: source }, 'moved the source')
    const report = job.receipt?.report ? reportPath(job.output) : null
    // Repeated after a crash, it is still the same end.
    const at = (job.status === 'done' && job.receipt?.createdAt) || new Date().toISOString()
    await this.#after(watched, job, { at, output: job.output, source, error: null, report })
  }

  async onFailure(job: FailedJob): Promise<void> {
    const watched = this.#watchedFile(job)
    // A file that has the name now belongs to another job, which this report must not blame.
    if (!watched || PASSED_CODES.has(job.error.code)) return
    const { id, input: source, preset, status } = job
    const error = withRetry(errorReport(job.error), id)
    const at = new Date().toISOString()
    const reports = new FailureReports(watched.folder.failed, watched.folder.path)
    const report = await this.#unlessLinked(job, 'The failure was not reported', () =>
      reports.write(watched.taken.path, { source, status, error, job: id, preset, at }),
    )
    await this.#after(watched, job, { at, output: null, source, error, report: report ?? null })
  }

  #watchedFile(job: JobFacts): WatchedFile | null {
    const used = this.#options.foldersOf(job)
    const taken = used && takenFileOf(job.data)
    return used && taken ? { used, folder: used.folder, taken } : null
  }

  /** Calls the command or the webhook that the folder names for the end of a job. */
  async #after(
    { folder }: WatchedFile,
    { id: job, status, preset, signal }: PublishedJob | FailedJob,
    facts: Pick<AfterFacts, 'at' | 'output' | 'source' | 'error' | 'report'>,
  ): Promise<void> {
    if (!folder.after) return
    const { notices, logger } = this.#options
    const { secret } = notices
    const address = notices.dashboardUrl()
    const dashboard = address === null ? null : new URL(`#job/${job}`, address).href
    await callAfter(folder.after, { status, ...facts, preset, job, dashboard }, { secret, signal, logger })
  }

  /** Goes on without a part of the aftercare that a symlink forbids. A retry would meet the same link. */
  async #unlessLinked<T>({ id, input }: JobFacts, what: string, part: () => Promise<T>): Promise<T | undefined> {
    try {
      return await part()
    } catch (error) {
      if (!(error instanceof UsageError) || error.code !== 'ERR_WATCH_FOLDER') throw error
      const { message, remedies } = error
      this.#options.logger.warn({ job: id, input, remedies }, `${what}: ${message}`)
      return undefined
    }
  }
}

/** @throws TransientError `ERR_FOLDER_OFFLINE` */
async function requirePresent({ used }: WatchedFile, { input }: JobFacts): Promise<void> {
  const reason = await used.absence({ make: false })
  if (reason !== null) throw new TransientError('ERR_FOLDER_OFFLINE', reason, { input })
}

/**
 * Requires that the file was not moved or changed since it was taken. Otherwise the next scan decides whose it is.
 *
 * @throws {TransientError} `ERR_INPUT_MOVED`, `ERR_INPUT_CHANGED`
 */
async function requireUnchanged({ input, signal }: JobFacts, taken: TakenFile): Promise<void> {
  const facts = await fileFacts(input)
  if (!facts) throw new TransientError('ERR_INPUT_MOVED', `${input} is not there any more.`, { input })
  if (isStill(taken, facts)) return
  if (facts.sizeBytes === taken.sizeBytes && (await contentId(input, signal)) === taken.contentId) return
  throw new TransientError('ERR_INPUT_CHANGED', `${input} has changed since it was taken.`, { input })
}

/** Moves the source if the folder is configured so. @returns its present path */
async function settledSource({ folder, taken }: WatchedFile, job: PublishedJob): Promise<string> {
  const { path, done, source, filter } = folder
  const old = join(path, taken.path)
  if (source !== 'move') return old
  const moved = await moveSource(path, taken.path, done, await currentSource(old, taken, job))
  if (moved !== old) await moveMarker(path, taken.path, done, filter?.marker ?? null)
  return moved
}

/** The present times of a file that was only touched during its job. Its bytes are still those that were read. */
async function currentSource(source: string, taken: TakenFile, { receipt, signal }: PublishedJob): Promise<ReadFile> {
  const facts = await fileFacts(source)
  if (!facts || isStill(taken, facts) || facts.sizeBytes !== taken.sizeBytes || receipt === null) return taken
  return (await fileSha256(source, signal)) === receipt.input.sha256 ? facts : taken
}
