import type { SqlValue, Statements } from '../database/database.js'
import { JOB_STATUSES, type Job, type JobStatus } from './job.js'
import { jobOf, SELECT_JOB } from './job-row.js'
import { DEFAULT_LIST_LIMIT, type JobCount, type JobFilter } from './job-store.js'

/** Finds a job by a condition, if there is one. */
export async function findJob(statements: Statements, where: string, values: readonly SqlValue[]): Promise<Job | null> {
  const row = await statements.get(`${SELECT_JOB} WHERE ${where}`, values)
  return row ? jobOf(row) : null
}

/** Lists jobs, newest first. One indexed query per status: a list of failed jobs never reads the done ones. */
export async function listJobs(statements: Statements, filter: JobFilter): Promise<Job[]> {
  const statuses = filter.statuses ?? (filter.group === undefined ? [undefined] : JOB_STATUSES)
  const lists: Job[][] = []
  for (const status of statuses) {
    const { sql, values } = listQuery(filter, status)
    lists.push((await statements.all(sql, values)).map(jobOf))
  }
  return lists
    .flat()
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, filter.limit ?? DEFAULT_LIST_LIMIT)
}

export async function countJobs(statements: Statements): Promise<JobCount[]> {
  const rows = await statements.all('SELECT grp, status, count(*) AS n FROM jobs GROUP BY grp, status', [])
  return rows.map((row) => ({ group: String(row.grp), status: row.status as JobStatus, count: Number(row.n) }))
}

/** A pattern for texts that contain this one. */
function likePart(text: string): string {
  return `%${text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/[!%_]/g, '!$&')}%`
}

/** Builds the query of a list, for one status or any. Conditions follow an index, newest first (see the schema). */
export function listQuery(filter: JobFilter, status?: JobStatus): { sql: string; values: SqlValue[] } {
  const conditions: string[] = []
  const values: SqlValue[] = []
  const add = (condition: string, value: SqlValue) => {
    conditions.push(condition)
    values.push(value)
  }
  if (filter.group !== undefined) add('jobs.grp = ?', filter.group)
  if (filter.input !== undefined) add('jobs.input = ?', filter.input)
  if (filter.inputPart !== undefined) add("lower(jobs.input) LIKE ? ESCAPE '!'", likePart(filter.inputPart))
  if (filter.published !== undefined) add('jobs.published_sha256 IS NOT NULL AND jobs.output = ?', filter.published)
  if (status !== undefined) add('jobs.status = ?', status)
  if (filter.before !== undefined) add('jobs.id < ?', filter.before)
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  return {
    sql: `${SELECT_JOB} ${where} ORDER BY jobs.id DESC LIMIT ?`,
    values: [...values, filter.limit ?? DEFAULT_LIST_LIMIT],
  }
}
