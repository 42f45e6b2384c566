import { TransientError, VoxmuxError } from '../core/errors.js'
import { backoffMs, sleep } from '../core/time.js'
import type { PollingOptions } from './client-options.js'
import type { FileStatus } from './file-status.js'
import { type HttpFault, httpFaultOf } from './http-fault.js'
import { type AskedFile, isNotFound, knownStatus, statuses } from './known-status.js'
import { pauseMs } from './retry.js'
import type { ServiceApi, StartOptions } from './service-api.js'

/** The way in which a file was started. */
export interface StartOutcome {
  readonly fileId: string
  /** `started`: by this call. `found-started`: by an earlier request whose response was lost. */
  readonly how: 'started' | 'found-started'
  /** The status, if it was requested; else null. */
  readonly status: FileStatus | null
}

/** A file to start. */
export interface FileToStart extends AskedFile {
  readonly api: Pick<ServiceApi, 'startProcess' | 'getFilesStatus'>
  readonly options?: StartOptions | undefined
}

/** How many times Pending must be reported before the file counts as "not started". */
const PENDING_QUESTIONS = 3
/** Questions in all: an InProgress between them is asked for again. */
const MOST_QUESTIONS = 2 * PENDING_QUESTIONS

/**
 * Starts a file so that at most one process is charged for it.
 *
 * After an ambiguous failure (reset, timeout, 408, 5xx, unreadable response) the status of the same file id decides:
 * - Succeeded, Failed, and InProgress twice: the lost request had arrived. Nothing is sent again. A single InProgress may
 *   be wrong, and a file that was never started would be waited for for ever.
 * - NotFound: the file cannot have been started. It is started again, and a 404 then ends the job.
 * - Pending: the interface calls it "waiting to start processing". An uploaded file that was never started can look like
 *   a started one in the queue. The status is polled a few times, because a request on its way moves the file on. If it
 *   stays Pending, the **same** file id is started again, never another one. A repeated start of one id gets a 200 with a
 *   null error and is not charged twice. Some services respond with a conflict (409) instead, which counts as
 *   `found-started`. Without the second start, a file whose request was lost would wait for ever.
 *
 * A 404 or a conflict alone is not trusted either: the status decides whether the file exists, or was started.
 *
 * @throws the error of startProcess if it is final, or the last one after all retries
 */
export async function startOnce(file: FileToStart): Promise<StartOutcome> {
  const { api, retry, fileId, options = {}, call = {} } = file
  let uncertain = false
  let fault: HttpFault | undefined
  for (let attempt = 0; ; attempt++) {
    try {
      await api.startProcess(fileId, options, call)
      return { fileId, how: 'started', status: null }
    } catch (thrown) {
      if (uncertain && isConflict(thrown)) return { fileId, how: 'found-started', status: null }
      const isMissing = isNotFound(thrown)
      fault = httpFaultOf(thrown)
      if (!isMissing && !isConflict(thrown) && !fault?.ambiguous) throw thrown
      if (isMissing && !(await knownStatus(file))) throw thrown
      const status = await startedStatus(file)
      if (status) return { fileId, how: 'found-started', status }
      if (attempt >= retry.limit) throw thrown
      uncertain ||= !isMissing && !isConflict(thrown)
    }
    const waitMs = fault ? pauseMs(fault, attempt, retry) : backoffMs(attempt, retry.baseMs, retry.maxMs)
    await sleep(waitMs, call.signal)
  }
}

/**
 * {@link startOnce} for a file that may have been started before a crash. Checks the status first, and starts the id
 * only if it has not started.
 */
export async function resumeStart(file: FileToStart): Promise<StartOutcome> {
  const { fileId } = file
  const status = await startedStatus(file)
  if (status) return { fileId, how: 'found-started', status }
  try {
    return await startOnce(file)
  } catch (thrown) {
    // The request before the crash may have arrived: then the service reports a conflict.
    if (isConflict(thrown)) return { fileId, how: 'found-started', status: null }
    throw thrown
  }
}

/**
 * Waits for the status that proves a start which only a conflict reported. The conflict may also mean that the storage
 * has lost the bytes it confirmed, and such a file stays Pending for ever.
 *
 * @param untilMs Unix milliseconds after which a Pending file is left
 * @returns the status; Pending only after `untilMs`
 * @throws {TransientError} `ERR_START_UNCONFIRMED` after `polling.outageMs`
 */
export async function provenStart(
  { api, fileId, call = {} }: AskedFile,
  { minMs, maxMs, outageMs }: PollingOptions,
  untilMs: number = Number.POSITIVE_INFINITY,
): Promise<FileStatus> {
  const sinceMs = performance.now()
  let before: FileStatus | undefined
  for (let attempt = 0; ; attempt++) {
    const [entry] = await api.getFilesStatus([fileId], call)
    if (entry && (isProof(entry, before) || Date.now() >= untilMs)) return entry
    before = entry
    if (performance.now() - sinceMs >= outageMs) throw unconfirmed(fileId)
    await sleep(backoffMs(attempt, minMs, maxMs), call.signal)
  }
}

function unconfirmed(fileId: string): TransientError {
  const message = `The service refuses to start file id ${fileId} with a conflict, and does not begin it either.`
  return new TransientError('ERR_START_UNCONFIRMED', message, {
    remedies: [
      'Run the same command again later: it goes on with the same file id, and nothing is paid twice.',
      'If it stays so, ask the operator of the service to delete this file id if it has no bytes. The next run then sends the voice again.',
    ],
  })
}

/** The status if it proves that the file was started, else undefined. */
async function startedStatus(file: FileToStart): Promise<FileStatus | undefined> {
  let before: FileStatus | undefined
  let pending = 0
  for await (const entry of statuses(file, MOST_QUESTIONS)) {
    if (entry.status === 'NotFound') return undefined
    if (isProof(entry, before)) return entry
    if (entry.status === 'Pending' && ++pending === PENDING_QUESTIONS) return undefined
    before = entry
  }
  return undefined
}

/** One wrong InProgress must not be waited for for ever. The other states are asked for again before they count. */
function isProof({ status }: FileStatus, before: FileStatus | undefined): boolean {
  if (status === 'InProgress') return before?.status === 'InProgress'
  return status !== 'Pending'
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof VoxmuxError && thrown.code === 'ERR_START_CONFLICT'
}
