import type { Database } from '../database/database.js'
import type { Holder } from '../leases/holder.js'
import { freeDeadLeases, leaseLost } from '../leases/leases.js'
import type { JobLease } from './job-store.js'

const IS_HELD = 'jobs.lease_token IS NOT NULL AND jobs.lease_expires_ms >'

/**
 * Takes a path for a job, or takes it over. A job of an older version of the file gives it up: it has the same input and
 * settings. Values: the path, the job, its token, and the time.
 */
const TAKE = `
  INSERT INTO taken_outputs (path, job_id) SELECT ?1, id FROM jobs WHERE id = ?2 AND lease_token = ?3
  ON CONFLICT (path) DO UPDATE SET job_id = excluded.job_id WHERE NOT EXISTS (
    SELECT 1 FROM jobs WHERE jobs.id = taken_outputs.job_id AND ${IS_HELD} ?4
      AND NOT EXISTS (SELECT 1 FROM jobs AS own WHERE own.id = excluded.job_id
        AND own.input = jobs.input AND own.recipe_hash = jobs.recipe_hash))`

/** Input of another job that has a path. Values: the path, the job that asks, and the time. */
const TAKEN_BY = `
  SELECT jobs.input FROM taken_outputs JOIN jobs ON jobs.id = taken_outputs.job_id
  WHERE taken_outputs.path = ?1 AND jobs.id <> ?2 AND ${IS_HELD} ?3`

/** Gives the outputs of a job back, when its lease ends. */
export const FREE_OUTPUT = 'DELETE FROM taken_outputs WHERE job_id = ?'

/** See `JobStore.takeOutput`. The statement may run twice: the second finds the job's own path. */
export async function takeOutputPath(
  database: Database,
  holder: Holder,
  { jobId, token }: JobLease,
  path: string,
): Promise<string | null> {
  for (;;) {
    const nowMs = database.nowMs()
    if ((await database.run(TAKE, [path, jobId, token, nowMs])).changes > 0) return null
    const other = await database.get(TAKEN_BY, [path, jobId, nowMs])
    if (other && !(await freeDeadLeases(database, holder))) return String(other.input)
    // The other job has ended since, unless this lease is lost.
    const own = await database.get('SELECT id FROM jobs WHERE id = ? AND lease_token = ?', [jobId, token])
    if (!own) throw leaseLost(path)
  }
}
