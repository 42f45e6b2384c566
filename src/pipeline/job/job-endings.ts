import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { storageAway, TransientError, type VoxmuxError } from '../../core/errors.js'
import { DAY_MS } from '../../core/time.js'
import { endFor, type Job, type JobEnd, type RetryDelay } from '../../ledger/index.js'
import { outputFault, vanishedInput } from '../output/storage-faults.js'
import { isWebAddress } from '../web-address.js'
import { concernsAccount } from './job-outcome.js'

/** Faults of a place that a person repairs without telling voxmux. A daemon retries on its own. */
export const REPAIRED_IN_PLACE: ReadonlySet<string> = new Set([
  'ERR_OUTPUT_UNWRITABLE',
  'ERR_NOT_PERMITTED',
  'ERR_CACHE_DIR',
])
/** Faults of the way to the service, not of a file, that its operator repairs: a certificate, a redirect. */
const REPAIRED_AT_SERVICE: ReadonlySet<string> = new Set(['ERR_INSECURE_ADDRESS', 'ERR_WRONG_ADDRESS'])
/** Spread of the jobs that wait for the next day, so that they do not all start in its first second. */
const NEW_DAY_SPREAD_MS = 60_000

/**
 * Translates a fault for a daemon, which is more patient than a command. It waits for an unwritable folder and for a
 * share that is away, whatever fault they caused. It also waits until an expired certificate is renewed.
 */
export async function faultOfDaemon(error: VoxmuxError, { input, output }: Job): Promise<VoxmuxError> {
  if (![1, 2, 5, 7].includes(error.exitCode)) return error
  const { message, cause, remedies } = error
  // A web address that is an input may be at fault itself.
  const isServices = REPAIRED_AT_SERVICE.has(error.code) && !isWebAddress(input)
  if (REPAIRED_IN_PLACE.has(error.code) || isServices)
    return new TransientError(error.code, message, { cause, input, remedies })
  const outputAway = error.exitCode === 5 || output === null ? undefined : await outputFault(output, error)
  if (outputAway) return outputAway
  if (isWebAddress(input)) return error
  if (!(await stat(input).catch(() => undefined))) return vanishedInput(input, error)
  // The share came back between the fault and this check.
  return error.code === 'ERR_INPUT_MISSING' ? storageAway(dirname(input), { cause: error, input }) : error
}

/** Decides how a worker ends a job that stopped with a fault. */
export function endOfJob(job: Job, error: VoxmuxError, retryDelay: RetryDelay): JobEnd {
  // The fault is the account's, not the file's: the job waits unchanged until the intake continues.
  if (concernsAccount(error)) return { kind: 'release', status: 'queued', notBeforeMs: null }
  if (error.code === 'ERR_SPENDING_LIMIT') return { kind: 'retry', atMs: nextDayMs(Date.now()) }
  return endFor(job, error, retryDelay)
}

/** Start of the next day at midnight UTC, as in the spending log. */
function nextDayMs(nowMs: number): number {
  return (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS + Math.round(Math.random() * NEW_DAY_SPREAD_MS)
}
