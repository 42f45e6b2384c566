import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { storageAway, TransientError, type VoxmuxError } from '../core/errors.js'
import { endFor, type Job, type JobEnd, type RetryDelay } from '../jobs/index.js'
import { isWebAddress } from './expand-inputs.js'
import { concernsAccount } from './job-outcome.js'
import { missingInput } from './missing-input.js'
import { outputFault } from './output-fault.js'

/** Faults of a place that a person mends without a word to voxmux: a daemon tries again by itself. */
const MENDED_IN_PLACE: ReadonlySet<string> = new Set(['ERR_OUTPUT_UNWRITABLE', 'ERR_NOT_PERMITTED'])
/** Jobs that wait for the next day do not all begin in its first second. */
const NEW_DAY_SPREAD_MS = 60_000

/**
 * What a fault means to a daemon, where it is more patient than a command: a folder that cannot be written and a share
 * that is gone are waited for, whatever the fault was that they led to.
 */
export async function faultOfDaemon(error: VoxmuxError, { input, output }: Job): Promise<VoxmuxError> {
  if (![1, 2, 5, 7].includes(error.exitCode)) return error
  const { message, cause, remedies } = error
  if (MENDED_IN_PLACE.has(error.code)) return new TransientError(error.code, message, { cause, input, remedies })
  const outputAway = error.exitCode === 5 || output === null ? undefined : await outputFault(output, error)
  if (outputAway) return outputAway
  if (isWebAddress(input)) return error
  const isThere = await stat(input).then(
    () => true,
    () => false,
  )
  if (!isThere) return missingInput(input, error)
  // It came back between the fault and this look at it.
  return error.code === 'ERR_INPUT_MISSING' ? storageAway(dirname(input), { cause: error, input }) : error
}

/** How a worker ends a job that stopped with a fault. */
export function endOfJob(job: Job, error: VoxmuxError, retryDelay: RetryDelay): JobEnd {
  // The account's fault, not the file's: it waits as it is until the intake goes on.
  if (concernsAccount(error)) return { kind: 'release', status: 'queued', notBeforeMs: null }
  if (error.code === 'ERR_SPENDING_LIMIT') return { kind: 'retry', atMs: nextDayMs(Date.now()) }
  return endFor(job, error, retryDelay)
}

/** Days turn at midnight UTC, as the log of spending counts them. */
function nextDayMs(nowMs: number): number {
  const dayMs = 24 * 3600 * 1000
  return (Math.floor(nowMs / dayMs) + 1) * dayMs + Math.round(Math.random() * NEW_DAY_SPREAD_MS)
}
