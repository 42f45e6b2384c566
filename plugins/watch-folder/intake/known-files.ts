import { join, relative } from 'node:path'
import type { Logger } from '../../../src/core/logger.js'
import { isEnded, type Job, type JobStore } from '../../../src/ledger/index.js'
import { isSuperseded } from '../../../src/pipeline/queue/queue-job.js'
import { type FileFacts, isSameVersion } from '../candidates/file-facts.js'
import { FailureReports } from '../hooks/failure-reports.js'
import type { WatchedFolder } from '../watched-folder.js'
import type { SeenFile, SeenFiles } from './seen-files.js'
import { isStill } from './taken-file.js'

interface KnownFilesOptions {
  readonly folder: WatchedFolder
  readonly jobs: JobStore
  readonly seen: SeenFiles
  readonly logger: Logger
}

/** Number of complete scans that must miss a file before it counts as gone. */
const MISSES = 2
/** Jobs looked up per scan, to notice those that a person has forgotten. */
const LOOKUPS = 200

/** The files of a folder that were taken and still exist. */
export class KnownFiles {
  readonly #options: KnownFilesOptions
  readonly #files = new Map<string, SeenFile>()
  /** Files that are outputs of voxmux, with their facts. */
  readonly #outputs = new Map<string, FileFacts>()
  readonly #misses = new Map<string, number>()
  #lookups: IterableIterator<SeenFile> | undefined

  constructor(options: KnownFilesOptions) {
    this.#options = options
  }

  /** True for a file that was taken, or known as an output, in this version. A share can change the inode. */
  has(path: string, facts: FileFacts): boolean {
    const { folder, seen } = this.#options
    const output = this.#outputs.get(path)
    if (output && isSameVersion(output, facts)) return true
    const file = this.#files.get(path) ?? seen.get(folder.group, path)
    if (!file || !isStill(file, facts)) return false
    if (file.ino !== facts.ino && !folder.poll) return false
    this.#files.set(path, file)
    return true
  }

  add(file: SeenFile): void {
    this.#files.set(file.path, file)
  }

  addOutput(path: string, facts: FileFacts): void {
    this.#outputs.set(path, facts)
  }

  /**
   * After a complete scan: a file that two scans missed is gone, and its waiting job with it.
   *
   * @returns true if a file that is there counts as new from now on
   */
  async compare(present: ReadonlySet<string>): Promise<boolean> {
    for (const path of this.#outputs.keys()) if (!present.has(path)) this.#outputs.delete(path)
    for (const file of this.#files.values()) {
      if (present.has(file.path)) {
        this.#misses.delete(file.path)
        continue
      }
      const misses = (this.#misses.get(file.path) ?? 0) + 1
      this.#misses.set(file.path, misses)
      if (misses >= MISSES) await this.#part(file)
    }
    return this.#findForgotten()
  }

  async #part(file: SeenFile): Promise<void> {
    const { folder, jobs, seen, logger } = this.#options
    this.#files.delete(file.path)
    this.#misses.delete(file.path)
    const job = await jobs.get(file.jobId)
    // The job has another name now, so its file is not gone.
    if (!job || job.input !== join(folder.path, file.path)) return
    if (isEnded(job.status)) {
      if (job.status === 'failed' || job.status === 'rejected')
        await new FailureReports(folder.failed, folder.path).remove(file.path)
    } else if (job.holder === null && (await jobs.forget(job.id))) {
      seen.remove(folder.group, [file.path])
      logger.info({ job: job.id, input: job.input }, 'the file is gone, and with it its job')
    }
  }

  /** A file without a job or an output of its own counts as new: a person forgot the job, or the output has another film. */
  async #findForgotten(): Promise<boolean> {
    const { folder, jobs, seen } = this.#options
    let hasFound = false
    for (let count = 0; count < LOOKUPS; count++) {
      this.#lookups ??= this.#files.values()
      const next = this.#lookups.next()
      if (next.done) {
        this.#lookups = undefined
        break
      }
      const job = await jobs.get(next.value.jobId)
      if (job && !(await this.#isReplaced(job))) continue
      this.#files.delete(next.value.path)
      seen.remove(folder.group, [next.value.path])
      hasFound = true
    }
    return hasFound
  }

  /** True if its file has another name now and a film with the old one has replaced its output. */
  async #isReplaced(job: Job): Promise<boolean> {
    const { folder, seen, jobs } = this.#options
    const successor = seen.get(folder.group, relative(folder.path, job.input))
    return successor !== null && successor.jobId !== job.id && (await isSuperseded(job, jobs))
  }
}
