import type { OutputFileUrl } from '../../contract/index.js'
import { TransientError } from '../../core/errors.js'
import { backoffMs, sleep } from '../../core/time.js'
import type { RetryOptions } from '../client-options.js'
import { fileFailed } from '../file-failed.js'
import { isNotFound, knownStatus } from '../known-status.js'
import type { CallOptions, ServiceApi } from '../service-api.js'

/**
 * Requests the link to a file's output. A 404 alone is not trusted: the status decides.
 *
 * @throws {JobFailedError} `ERR_NOT_FOUND` if the status is NotFound too, `ERR_FILE_FAILED`
 * @throws {TransientError} `ERR_OUTPUT_NOT_READY` if the service has the file but no link to its output
 */
export async function outputLink(
  api: Pick<ServiceApi, 'getOutputFileUrl' | 'getFilesStatus'>,
  retry: RetryOptions,
  fileId: string,
  call: CallOptions = {},
): Promise<OutputFileUrl> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await api.getOutputFileUrl(fileId, call)
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown
      const status = await knownStatus({ api, retry, fileId, call })
      if (!status) throw thrown
      if (status.status === 'Failed') throw fileFailed(fileId, status)
      if (status.status !== 'Succeeded' || attempt >= retry.limit) throw notReady(fileId, status.status, thrown)
    }
    await sleep(backoffMs(attempt, retry.baseMs, retry.maxMs), call.signal)
  }
}

function notReady(fileId: string, status: string, cause: unknown): TransientError {
  const message = `The service has no output of file id ${fileId}, although it reports the file as ${status}.`
  return new TransientError('ERR_OUTPUT_NOT_READY', message, {
    cause,
    remedies: ['Run the same command again in a few minutes. Voices that are paid for are kept.'],
  })
}
