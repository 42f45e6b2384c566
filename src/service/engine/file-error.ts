import { type FileErrorCode, fileErrorInfo } from '../../contract/index.js'
import { type ErrorCode, JobFailedError, type VoxmuxErrorOptions } from '../../core/errors.js'

/** Creates a failure that ends a file with one of the interface's codes. Adds that code's name and remedies. */
export function fileError(
  errorCode: FileErrorCode,
  code: ErrorCode,
  message: string,
  options: Pick<VoxmuxErrorOptions, 'cause' | 'input'>,
): JobFailedError {
  const { name, remedies } = fileErrorInfo(errorCode)
  return new JobFailedError(code, message, { ...options, errorCode, errorName: name, remedies })
}
