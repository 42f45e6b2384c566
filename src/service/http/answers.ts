import type { OperationMessage, ValidationErrorResponse } from '../../contract/index.js'

/** A request that gets an operation message: 401, 403, 404, 429 or 503. */
export class OperationRefused extends Error {
  constructor(
    readonly statusCode: 401 | 403 | 404 | 429 | 503,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** A request of valid JSON with values that are not allowed. Gets the shape of a 400. */
export class RequestInvalid extends Error {}

const REASONS = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** Longest message that repeats text of a request. A request may contain very many unknown keys, or a very long one. */
const MAX_MESSAGE_CHARS = 500

/** Cuts a message that repeats text of a request. */
export function shortMessage(message: string): string {
  return message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS - 1)}…` : message
}

/** The body of a 400. */
export function validationError(message: string): ValidationErrorResponse {
  return { statusCode: 400, code: 'FST_ERR_VALIDATION', error: 'Bad Request', message: shortMessage(message) }
}

/** The body of every other error. */
export function operationMessage(statusCode: keyof typeof REASONS, code: string, message: string): OperationMessage {
  return { statusCode, code, error: REASONS[statusCode], message }
}

/** The 429 of an account that registers files and does not start them. */
export function tooManyFiles(): OperationRefused {
  return new OperationRefused(
    429,
    'ERR_TOO_MANY_FILES',
    'This account has too many files that were not started. Start some, or wait until they expire.',
  )
}

/** The only 404 for files. It does not reveal whether the id is unknown or belongs to another user. */
export function fileNotFound(): OperationRefused {
  return new OperationRefused(404, 'ERR_FILE_NOT_FOUND', 'File not found.')
}
