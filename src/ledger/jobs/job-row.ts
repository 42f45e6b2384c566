import type { ErrorReport } from '../../core/errors.js'
import type { Row, SqliteFile } from '../database/sqlite-file.js'
import { sortableId } from '../sortable-id.js'
import type { FileIdentity, Job, JobRequest, JobState, JobStatus } from './job.js'

/** The columns for {@link jobOf}: the job and its holder. */
export const SELECT_JOB =
  'SELECT jobs.*, holders.host, holders.pid FROM jobs LEFT JOIN holders ON holders.id = jobs.lease_holder'

/** Converts a row of {@link SELECT_JOB} to a job. */
export function jobOf(row: Row): Job {
  return {
    id: String(row.id),
    key: String(row.key),
    group: String(row.grp),
    priority: Number(row.priority),
    status: row.status as JobStatus,
    attempts: Number(row.attempts),
    notBeforeMs: row.not_before_ms === null ? null : Number(row.not_before_ms),
    input: String(row.input),
    inputIdentity: json<FileIdentity>(row.input_identity),
    output: text(row.output),
    recipeHash: String(row.recipe_hash),
    preset: text(row.preset),
    state: json<JobState>(row.state) ?? {},
    error: json<ErrorReport>(row.error),
    receipt: text(row.receipt),
    publishedSha256: text(row.published_sha256),
    createdMs: Number(row.created_ms),
    updatedMs: Number(row.updated_ms),
    holder: row.pid === null ? null : { host: String(row.host).split(' ', 1).join(), pid: Number(row.pid) },
  }
}

/** Adds a job and its group's turn. Call inside a transaction. @returns false if its key exists */
export function insertJob(database: SqliteFile, request: JobRequest, nowMs: number): boolean {
  const notBeforeMs = request.notBeforeMs ?? null
  const { changes } = database.run(
    `INSERT OR IGNORE INTO jobs (id, key, grp, priority, status, ready, not_before_ms, attempts, input,
       input_identity, output, recipe_hash, preset, state, created_ms, updated_ms)
     VALUES (?, ?, ?, ?, 'queued', ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      sortableId(nowMs),
      request.key,
      request.group,
      request.priority ?? 0,
      notBeforeMs === null ? 1 : 0,
      notBeforeMs === null ? null : Math.ceil(notBeforeMs),
      request.input,
      request.inputIdentity ? JSON.stringify(request.inputIdentity) : null,
      request.output ?? null,
      request.recipeHash ?? '',
      request.preset ?? null,
      JSON.stringify(request.state ?? {}),
      nowMs,
      nowMs,
    ],
  )
  if (changes > 0) database.run('INSERT OR IGNORE INTO turns (grp, served) VALUES (?, 0)', [request.group])
  return changes > 0
}

function text(value: Row[string] | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function json<T>(value: Row[string] | undefined): T | null {
  return typeof value === 'string' ? (JSON.parse(value) as T) : null
}
