import type { FileProcessingStatus } from '../contract/index.js'
import { VoxmuxError } from '../core/errors.js'
import { backoffMs, sleep } from '../core/time.js'
import type { RetryOptions } from './client-options.js'
import { httpFaultOf } from './http-fault.js'
import type { CallOptions, ServiceApi, StartOptions } from './service-api.js'

/** How a file came to be started. */
export interface StartOutcome {
  readonly fileId: string
  /** `started`: by this call. `found-started`: an earlier request, whose answer was lost, had arrived. */
  readonly how: 'started' | 'found-started'
  /** What the service said of the file where it was asked, else null. */
  readonly status: FileProcessingStatus | null
}

type Api = Pick<ServiceApi, 'startProcess' | 'getFilesStatus'>

/** How often the status is asked before Pending is taken for "not started". */
const PENDING_QUESTIONS = 3

/**
 * Starts a file so that at most one process is charged for it.
 *
 * After an ambiguous failure (reset, timeout, 5xx, unreadable answer) the status of the same file id decides:
 * - InProgress, Succeeded, Failed: the lost request had arrived; nothing is sent again.
 * - NotFound: nothing is there to have been started; started again (a 404 then says so).
 * - Pending: the interface calls it "waiting to start processing", so an uploaded file that was never started and a
 *   started one in the queue can look the same. It is asked a few times, since a request on its way moves on; if it
 *   stays Pending, the **same** file id is started again and never another one. A repeated start of one id is
 *   answered 200 with a null error and not charged twice (DESIGN section 5); a service that answers it with a
 *   conflict (409) instead says the same in other words, and counts as `found-started`. Not to start again would let
 *   a file whose request was lost wait for ever.
 *
 * @throws whatever startProcess throws where the failure is final, or the last one after all repeats
 */
export async function startOnce(
  api: Api,
  retry: RetryOptions,
  fileId: string,
  startOptions: StartOptions = {},
  call: CallOptions = {},
): Promise<StartOutcome> {
  let uncertain = false
  for (let attempt = 0; ; attempt++) {
    try {
      await api.startProcess(fileId, startOptions, call)
      return { fileId, how: 'started', status: null }
    } catch (thrown) {
      if (uncertain && isConflict(thrown)) return { fileId, how: 'found-started', status: null }
      if (!httpFaultOf(thrown)?.ambiguous) throw thrown
      uncertain = true
      const status = await startedStatus(api, retry, fileId, call)
      if (status) return { fileId, how: 'found-started', status }
      if (attempt >= retry.limit) throw thrown
    }
    await sleep(backoffMs(attempt, retry.baseMs, retry.maxMs), call.signal)
  }
}

/**
 * {@link startOnce} for a file whose start was intended before a crash: the status is asked first, and only an id
 * that has not started is started.
 */
export async function resumeStart(
  api: Api,
  retry: RetryOptions,
  fileId: string,
  startOptions: StartOptions = {},
  call: CallOptions = {},
): Promise<StartOutcome> {
  const status = await startedStatus(api, retry, fileId, call)
  if (status) return { fileId, how: 'found-started', status }
  try {
    return await startOnce(api, retry, fileId, startOptions, call)
  } catch (thrown) {
    // The request of before the crash may have arrived: a conflict is its trace.
    if (isConflict(thrown)) return { fileId, how: 'found-started', status: null }
    throw thrown
  }
}

/** The status where it proves that the file was started, else undefined. */
async function startedStatus(
  api: Api,
  retry: RetryOptions,
  fileId: string,
  call: CallOptions,
): Promise<FileProcessingStatus | undefined> {
  for (let question = 0; question < PENDING_QUESTIONS; question++) {
    if (question > 0) await sleep(backoffMs(question, retry.baseMs, retry.maxMs), call.signal)
    const [entry] = await api.getFilesStatus([fileId], call)
    switch (entry?.status) {
      case 'InProgress':
      case 'Succeeded':
      case 'Failed':
        return entry
      case 'NotFound':
      case undefined:
        return undefined
      case 'Pending':
        break
      default:
        entry?.status satisfies never
    }
  }
  return undefined
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof VoxmuxError && thrown.code === 'ERR_START_CONFLICT'
}
