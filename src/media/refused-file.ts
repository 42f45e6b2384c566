import { type ErrorCode, PrecheckError, type VoxmuxErrorOptions } from '../core/errors.js'

/** Names of the service's codes for files that cannot be read. */
const NAMES = { '-2': 'CorruptedFile', '-7': 'UnsupportedCodec', '-16': 'UnsupportedMediaContainer' } as const

/** The refusal of a file that cannot be read, with the service's code for it. */
export function refusedFile(
  errorCode: -2 | -7 | -16,
  code: ErrorCode,
  message: string,
  options: VoxmuxErrorOptions,
): PrecheckError {
  return new PrecheckError(code, message, { ...options, errorCode, errorName: NAMES[errorCode] })
}
