import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ErrorReport } from '../../../src/core/errors.js'
import { fitName } from '../../../src/core/fit-name.js'
import { makeDurableFolder } from '../../../src/core/make-folder.js'
import { syncFolder } from '../../../src/core/sync-folder.js'
import type { Job } from '../../../src/ledger/index.js'
import { retryRemedy } from '../../../src/pipeline/queue/retry-job.js'
import { fileFacts } from '../candidates/file-facts.js'
import { requireInside } from '../places/require-inside.js'

/** Version of a report's shape, raised when a field changes its meaning or is removed. */
const SCHEMA_VERSION = 1
const SUFFIX = '.json'

/** A report, without its version. */
export interface FailureReport {
  /** Absolute path of the source. */
  readonly source: string
  readonly status: 'failed' | 'rejected'
  readonly error: ErrorReport
  readonly job: string
  readonly preset: string
  /** ISO 8601. */
  readonly at: string
}

/** The reports of failed files: `failed/<path of the source>.json`. One disappears when its file succeeds. */
export class FailureReports {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** @param path of the source within its folder */
  pathOf(path: string): string {
    return join(this.#folder, dirname(path), fitName(basename(path), SUFFIX))
  }

  /** @returns its path @throws {UsageError} `ERR_WATCH_FOLDER` if a link below the folder leads out of it */
  async write(path: string, { error, ...facts }: FailureReport): Promise<string> {
    const target = this.pathOf(path)
    await requireInside(this.#folder, dirname(target))
    await makeDurableFolder(dirname(target))
    // The name is unique, because two daemons may report the same file.
    const part = join(dirname(target), `.voxmux-${facts.job}.report`)
    const text = JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...facts, ...error }, null, 2)
    await writeFile(part, `${text}\n`, { flush: true })
    await rename(part, target)
    await syncFolder(dirname(target))
    return target
  }

  /** Writes the report of a job that failed before, if its file has none. */
  async restore(path: string, source: string, { id: job, status, error, preset, updatedMs }: Job): Promise<void> {
    if ((status !== 'failed' && status !== 'rejected') || error === null) return
    if (await fileFacts(this.pathOf(path))) return
    const at = new Date(updatedMs).toISOString()
    await this.write(path, { source, status, error: withRetry(error, job), job, preset: preset ?? '', at })
  }

  async remove(path: string): Promise<void> {
    const target = this.pathOf(path)
    await requireInside(this.#folder, dirname(target))
    await rm(target, { force: true })
  }
}

/** Adds how the job is retried to the remedies of its error. */
export function withRetry(error: ErrorReport, job: string): ErrorReport {
  return { ...error, remedies: [...error.remedies, retryRemedy(job)] }
}
