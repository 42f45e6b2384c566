import type { ErrorReport } from '../../core/errors.js'
import type { Row, SqlValue } from '../database/database.js'
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

/** Adds a {@link jobRow}, unless its key exists. */
export const INSERT_JOB = `
  INSERT INTO jobs (id, key, grp, priority, status, ready, not_before_ms, attempts, input, input_identity, output,
    recipe_hash, preset, state, created_ms, updated_ms) VALUES (${Array(16).fill('?').join()}) ON CONFLICT DO NOTHING`

/** A row of a new job, with its id first. */
export function jobRow(request: JobRequest, nowMs: number): SqlValue[] {
  const notBeforeMs = request.notBeforeMs ?? null
  return [
    sortableId(nowMs),
    request.key,
    request.group,
    request.priority ?? 0,
    'queued',
    notBeforeMs === null ? 1 : 0,
    notBeforeMs === null ? null : Math.ceil(notBeforeMs),
    0,
    request.input,
    request.inputIdentity ? JSON.stringify(request.inputIdentity) : null,
    request.output ?? null,
    request.recipeHash ?? '',
    request.preset ?? null,
    JSON.stringify(request.state ?? {}),
    nowMs,
    nowMs,
  ]
}

function text(value: Row[string] | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function json<T>(value: Row[string] | undefined): T | null {
  return typeof value === 'string' ? (JSON.parse(value) as T) : null
}
