import { VoxmuxError } from '../core/errors.js'
import { backoffMs, sleep } from '../core/time.js'
import type { RetryOptions } from './client-options.js'
import type { FileStatus } from './file-status.js'
import type { CallOptions, ServiceApi } from './service-api.js'

/** Number of NotFound responses in a row after which a file counts as missing. */
const NOT_FOUND_QUESTIONS = 3

/** True if a call ended with the service's 404. */
export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof VoxmuxError && thrown.code === 'ERR_NOT_FOUND'
}

/**
 * Checks whether the service still has a file after a 404. A wrong 404 would cost a second payment.
 *
 * @returns its status; undefined if several responses in a row are NotFound
 */
export async function knownStatus(
  api: Pick<ServiceApi, 'getFilesStatus'>,
  retry: RetryOptions,
  fileId: string,
  call: CallOptions = {},
): Promise<FileStatus | undefined> {
  for (let question = 0; question < NOT_FOUND_QUESTIONS; question++) {
    if (question > 0) await sleep(backoffMs(question, retry.baseMs, retry.maxMs), call.signal)
    const [entry] = await api.getFilesStatus([fileId], call)
    if (entry && entry.status !== 'NotFound') return entry
  }
  return undefined
}
