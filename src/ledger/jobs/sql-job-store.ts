import type { Database } from '../database/database.js'
import type { Holder } from '../leases/holder.js'
import { countJobs, findJob, listJobs } from './job-reads.js'
import { INSERT_JOB, jobRow } from './job-row.js'
import type { JobStore } from './job-store.js'
import { sqlHolderWrites } from './sql-holder-writes.js'
import { READY, sqlJobClaims } from './sql-job-claims.js'
import { sqlOperatorWrites } from './sql-operator-writes.js'
import { takeOutputPath } from './taken-outputs.js'

/** Dependencies of a store, mostly replaced in tests. */
export interface StoreContext {
  readonly database: Database
  /** Holder of new leases. */
  readonly holder: Holder
}

/** A {@link JobStore} in SQL, for any number of processes. */
export function sqlJobStore({ database, holder }: StoreContext): JobStore {
  return {
    ...sqlJobClaims(database, holder),
    ...sqlHolderWrites(database, holder),
    ...sqlOperatorWrites(database, holder),
    get: (id) => findJob(database, 'jobs.id = ?', [id]),
    getByKey: (key) => findJob(database, 'jobs.key = ?', [key]),
    list: (filter = {}) => listJobs(database, filter),
    counts: () => countJobs(database),
    takeOutput: (lease, path) => takeOutputPath(database, holder, lease, path),
    close: () => database.close(),

    enqueue(request) {
      const row = jobRow(request, database.nowMs())
      return database.transaction(async (tx) => {
        for (;;) {
          await tx.run(INSERT_JOB, row)
          const job = await findJob(tx, 'jobs.key = ?', [request.key])
          // It was forgotten between these two statements.
          if (!job) continue
          const created = job.id === row[0]
          if (created) await tx.notify(READY, request.group)
          return { job, created }
        }
      })
    },
  }
}
