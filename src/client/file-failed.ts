import { FILE_ERROR_CODES, fileErrorInfo } from '../contract/index.js'
import { JobFailedError, TransientError } from '../core/errors.js'
import type { FileStatus } from './file-status.js'

/** Creates the error of a file that the service could not process, with the service's error code. */
export function fileFailed(fileId: string, status: FileStatus): JobFailedError {
  const isMissing = status.status === 'NotFound'
  const errorCode = status.errorCode === 0 ? (isMissing ? -11 : -1) : status.errorCode
  const code = isMissing ? 'ERR_NOT_FOUND' : 'ERR_FILE_FAILED'
  const listed = FILE_ERROR_CODES.find((known) => known === errorCode)
  if (listed === undefined) {
    const message = `The service could not process file id ${fileId}: it reported error code ${errorCode}.`
    return new JobFailedError(code, message, {
      errorCode,
      remedies: ['Ask the operator of the service about this code. Its interface does not list it.'],
    })
  }
  const { name: errorName, meaning, remedies } = fileErrorInfo(listed)
  const message = `The service could not process file id ${fileId}: ${meaning}`
  return new JobFailedError(code, message, { errorCode, errorName, remedies })
}

/** Creates the error of a file that the service has lost sight of, or whose state is not of the interface. */
export function statusUnchanged({ id, status, progress }: FileStatus, forMs: number): TransientError {
  const hours = Math.round(forMs / 3_600_000)
  const message = `The service has reported file id ${id} as ${status} at ${progress} % for ${hours} h.`
  return new TransientError('ERR_STATUS_UNCHANGED', message, {
    remedies: [
      'Ask the operator of the service what became of this file id.',
      'Run the same command again later: it goes on with the same file id, and nothing is paid twice.',
    ],
  })
}
