import { type FileErrorCode, fileErrorInfo } from '../../contract/index.js'
import { type ErrorCode, JobFailedError } from '../../core/errors.js'

/** Creates a failure that ends a file with one of the interface's codes. Adds that code's name and remedies. */
export function fileError(errorCode: FileErrorCode, code: ErrorCode, message: string, input: string): JobFailedError {
  const { name, remedies } = fileErrorInfo(errorCode)
  return new JobFailedError(code, message, { input, errorCode, errorName: name, remedies })
}
