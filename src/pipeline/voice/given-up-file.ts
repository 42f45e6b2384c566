import type { VoxmuxClient } from '../../client/index.js'
import { fileErrorInfo } from '../../contract/index.js'
import { JobFailedError, VoxmuxError } from '../../core/errors.js'
import { DAY_MS } from '../../core/time.js'
import { USELESS_AUDIO, type Voice } from '../../ledger/index.js'
import { steadyStatus } from './steady-status.js'

/** The service's NotFound. */
const NOT_FOUND = -11

/** Errors of a service that reports a file as Succeeded, but has no output of it. */
const WITHOUT_OUTPUT: ReadonlySet<string> = new Set(['ERR_OUTPUT_NOT_READY', 'ERR_DOWNLOAD_LINK_REFUSED'])
/** No outage lasts as long. */
const GONE_AFTER_MS = 7 * DAY_MS

/**
 * The error of a download, or `ERR_NOT_FOUND` if the service has deleted the output without forgetting its file. Such a
 * voice could otherwise never be regenerated again.
 */
export function deletedOutput(error: unknown, { fileId, attempts }: Voice): unknown {
  const agoMs = Date.now() - (attempts.at(-1)?.endedMs ?? Date.now())
  if (!(error instanceof VoxmuxError) || !WITHOUT_OUTPUT.has(error.code) || agoMs < GONE_AFTER_MS) return error
  const message = `The service reports file id ${fileId} as Succeeded, but no longer has its output, which is over a week old.`
  const { name: errorName } = fileErrorInfo(NOT_FOUND)
  return new JobFailedError('ERR_NOT_FOUND', message, {
    ...{ cause: error, errorCode: NOT_FOUND, errorName },
    remedies: ['Run the same command again. The voice is then sent again, and paid for again.'],
  })
}

/**
 * Requests the status of a file that an earlier attempt gave up or did not finish sending, before another one is paid
 * for. A service that has lost a file for a moment, or that tries a failed one again, has its paid output later.
 *
 * @param voice with the status `failed` or `registered`; only read
 * @returns the status with which this file goes on; null if the service has no output to expect
 */
export async function statusOfGivenUp(
  { fileId, errorCode }: Voice,
  client: VoxmuxClient,
  signal: AbortSignal,
): Promise<'started' | 'succeeded' | null> {
  if (fileId === null || errorCode === USELESS_AUDIO) return null
  switch (await steadyStatus(client, fileId, signal)) {
    case 'Succeeded':
      return 'succeeded'
    case 'InProgress':
      return 'started'
    case 'Pending':
      // A failed file may be Pending because it can be started again, and one that was never sent too. One that was lost
      // has only its place in the queue.
      return errorCode === NOT_FOUND ? 'started' : null
    default:
      return null
  }
}
