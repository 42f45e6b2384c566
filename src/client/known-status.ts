import { VoxmuxError } from '../core/errors.js'
import { backoffMs, sleep } from '../core/time.js'
import type { RetryOptions } from './client-options.js'
import type { FileStatus } from './file-status.js'
import type { CallOptions, ServiceApi } from './service-api.js'

/** A file whose status decides how to go on. */
export interface AskedFile {
  readonly api: Pick<ServiceApi, 'getFilesStatus'>
  readonly retry: RetryOptions
  readonly fileId: string
  readonly call?: CallOptions | undefined
}

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
export async function knownStatus(file: AskedFile): Promise<FileStatus | undefined> {
  for await (const entry of statuses(file, NOT_FOUND_QUESTIONS)) if (entry.status !== 'NotFound') return entry
  return undefined
}

/** Requests the status of a file a few times, with growing pauses. Leaves out a response without a readable status. */
export async function* statuses(
  { api, retry, fileId, call = {} }: AskedFile,
  times: number,
): AsyncGenerator<FileStatus> {
  for (let question = 0; question < times; question++) {
    if (question > 0) await sleep(backoffMs(question, retry.baseMs, retry.maxMs), call.signal)
    const [entry] = await api.getFilesStatus([fileId], call)
    if (entry) yield entry
  }
}
