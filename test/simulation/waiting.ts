import { isEnded, type JobStatus } from '../../src/ledger/jobs/job.js'
import { rowsOf } from './outside/sqlite.js'
import { PLACES } from './places.js'
import type { World } from './world/world.js'

interface WaitingRow {
  readonly status: JobStatus
  readonly input: string
  readonly ready: bigint | number
  readonly not_before_ms: bigint | number | null
  readonly error: string | null
  readonly lease_token: string | null
}

/** Ends of jobs whose file was moved or changed: what lies there now is another job's. */
const PASSED_CODES = ['ERR_INPUT_MOVED', 'ERR_INPUT_CHANGED']

/** Every job has ended, or waits for a reason with a name: checked whenever the machine falls asleep. */
export function checkWaiting(world: World): void {
  for (const row of rowsOf<WaitingRow>(world, 'SELECT * FROM jobs'))
    if (!isEnded(row.status) && reasonToWait(row) === null)
      world.break('every job ends or waits for a named reason', `${row.input} is ${row.status} and waits for nothing`)
}

/** True when no job of the watched folder waits or is in work. */
export function isAtRest(world: World): boolean {
  return watchedJobs(world).every(({ status }) => isEnded(status))
}

/** True when a job of the watched folder failed, and not because its file is another job's by now. */
export function hasFailed(world: World): boolean {
  return watchedJobs(world).some(
    ({ status, error }) => (status === 'failed' || status === 'rejected') && !PASSED_CODES.includes(codeOf(error)),
  )
}

/** Milliseconds until the first job that waits for its time is due; 0 when none does. */
export function untilDueMs(world: World): number {
  const [{ dueMs }] = rowsOf<{ dueMs: bigint | null }>(world, 'SELECT min(not_before_ms) AS dueMs FROM jobs') as [never]
  return dueMs === null ? 0 : Number(dueMs) - world.wallMs
}

/** Code of the error that the ledger holds for a job. */
export function codeOf(error: string | null | undefined): string {
  return error ? String((JSON.parse(error) as { code: string }).code) : 'no fault'
}

function watchedJobs(world: World): readonly Pick<WaitingRow, 'status' | 'error'>[] {
  return rowsOf(world, 'SELECT status, error FROM jobs WHERE grp = ?', [PLACES.watched])
}

function reasonToWait({
  status,
  ready,
  not_before_ms: notBeforeMs,
  error,
  lease_token: lease,
}: WaitingRow): string | null {
  if (lease !== null) return 'a process has it in hand, or had it when it was killed'
  if (Number(ready) === 1) return status === 'working' ? null : 'its turn'
  if (notBeforeMs === null) return null
  if (status === 'waiting-remote') return 'the service'
  return error === null ? null : `its retry after ${codeOf(error)}`
}
