import { serviceOf } from './outside/service-of.js'
import { rowsOf } from './outside/sqlite.js'
import type { World } from './world/world.js'

interface SpendingRow {
  readonly id: string
  readonly committed: bigint | number
}

/** The attempt of a voice that a file id belongs to. */
interface AttemptRow {
  readonly status: string
  readonly isLatest: bigint | number
}

/** Statuses of a voice whose next job settles the reservation. */
const UNSETTLED = ['uploaded', 'starting']

/** What was paid for is written down as spent, and every reservation is settled or has a reason with a name. */
export function checkSpending(world: World): void {
  const spending = rowsOf<SpendingRow>(world, 'SELECT id, committed FROM spending')
  // An id names the voice and its file.
  const committed = new Map(spending.map(({ id, committed }) => [id.split(' ')[1] ?? '', Number(committed) === 1]))
  // Of a file that was lost before its start was answered, nobody can know that it was paid for.
  for (const { id, payments, isLost } of serviceOf(world).files.values())
    if (payments > 0 && !isLost && !committed.has(id))
      world.break('no payment without a ledger entry', `${id} is not in the log of spending`)
  for (const [id, isCommitted] of committed) {
    if (isCommitted || isUnsettled(world, id)) continue
    world.break('every reservation is settled', `${id} is reserved for ever`)
  }
}

/** True while the start of a file id is not known: its job ended before it knew, and the next job of its voice settles it. */
function isUnsettled(world: World, fileId: string): boolean {
  const [attempt] = rowsOf<AttemptRow>(world, ATTEMPT, [fileId])
  return attempt !== undefined && Number(attempt.isLatest) === 1 && UNSETTLED.includes(attempt.status)
}

const ATTEMPT = `
  SELECT status, attempt = (SELECT max(attempt) FROM voice_attempts AS all_of_it WHERE all_of_it.key = one.key) AS isLatest
  FROM voice_attempts AS one WHERE file_id = ?`
