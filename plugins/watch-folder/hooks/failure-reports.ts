import { createHash } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ErrorReport } from '../../../src/core/errors.js'
import { fitName } from '../../../src/core/fit-name.js'
import { makeDurableFolder } from '../../../src/core/make-folder.js'
import { readPlainFile } from '../../../src/core/read-plain-file.js'
import { syncFolder } from '../../../src/core/sync-folder.js'
import type { Job } from '../../../src/ledger/index.js'
import { remediesOfQueued } from '../../../src/pipeline/queue/retry-job.js'
import { fileFacts } from '../candidates/file-facts.js'
import { requireInside } from '../folders/require-inside.js'
import type { AfterFacts } from './call-after.js'

/** Version of a report's shape, raised when a field changes its meaning or is removed. */
const SCHEMA_VERSION = 1
const SUFFIX = '.json'

/** A report, without its version. */
export interface FailureReport extends Pick<AfterFacts, 'source' | 'preset' | 'job' | 'at'> {
  readonly status: 'failed' | 'rejected'
  readonly error: ErrorReport
}

/**
 * The reports of failed files: `failed/<path of the source>.json`. One disappears when its file succeeds. If several
 * watched folders share `failed`, a file whose name has the report of another folder's file gets a hash in its name.
 */
export class FailureReports {
  readonly #folder: string
  readonly #root: string

  /** @param root the watched folder */
  constructor(folder: string, root: string) {
    this.#folder = folder
    this.#root = root
  }

  /** Path of a file's report. @param path of the source within its folder */
  async pathOf(path: string): Promise<string> {
    const [plain, own] = this.#places(path)
    return (await this.#isOfAnother(plain, path)) ? own : plain
  }

  #places(path: string): readonly [string, string] {
    const hash = createHash('sha256').update(join(this.#root, path)).digest('hex').slice(0, 8)
    const named = (suffix: string) => join(this.#folder, dirname(path), fitName(basename(path), suffix))
    return [named(SUFFIX), named(`~${hash}${SUFFIX}`)]
  }

  /** The source of a report of another machine may have another path here. It is not there under that one. */
  async #isOfAnother(report: string, path: string): Promise<boolean> {
    const read = await readPlainFile(report).catch(() => null)
    const source = read && sourceOf(read)
    return !!source && source !== join(this.#root, path) && (await fileFacts(source).catch(() => null)) !== undefined
  }

  /** @returns its path @throws {UsageError} `ERR_WATCH_FOLDER` if a link below the folder leads out of it */
  async write(path: string, { error, ...facts }: FailureReport): Promise<string> {
    const [plain, own] = this.#places(path)
    const target = await this.pathOf(path)
    await requireInside(this.#folder, dirname(target))
    await makeDurableFolder(dirname(target))
    // The name is unique, because two daemons may report the same file.
    const part = join(dirname(target), `.voxmux-${facts.job}.report`)
    const text = JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...facts, ...error }, null, 2)
    // Others may write into the folder and know the id: a link that they put there would lead to another file.
    await rm(part, { force: true })
    await writeFile(part, `${text}\n`, { flag: 'wx', flush: true })
    await rename(part, target)
    // An earlier one has a hash if the name was taken then.
    if (target === plain) await rm(own, { force: true })
    await syncFolder(dirname(target))
    return target
  }

  /** Writes the report of a job that failed before, if its file has none. */
  async restore(path: string, source: string, { id: job, status, error, preset, updatedMs }: Job): Promise<void> {
    if ((status !== 'failed' && status !== 'rejected') || error === null) return
    if (await fileFacts(await this.pathOf(path))) return
    const at = new Date(updatedMs).toISOString()
    await this.write(path, { source, status, error: withRetry(error, job), job, preset: preset ?? '', at })
  }

  async remove(path: string): Promise<void> {
    const [plain, own] = this.#places(path)
    await requireInside(this.#folder, dirname(plain))
    if (!(await this.#isOfAnother(plain, path))) await rm(plain, { force: true })
    await rm(own, { force: true })
  }
}

function sourceOf(report: Buffer): string | null {
  try {
    const { source } = JSON.parse(report.toString()) as { source?: unknown }
    return typeof source === 'string' ? source : null
  } catch {
    return null
  }
}

/** Adds how the job is retried to the remedies of its error. */
export function withRetry(error: ErrorReport, job: string): ErrorReport {
  return { ...error, remedies: remediesOfQueued(error, job) }
}
