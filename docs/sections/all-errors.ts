import {
  AccessError,
  InterruptedError,
  JobFailedError,
  PendingError,
  PrecheckError,
  TransientError,
  UsageError,
  VerificationError,
} from '../../src/core/errors.js'
import { ERROR_CODES, type ErrorClass } from '../error-codes.js'

const CLASSES = {
  AccessError,
  JobFailedError,
  PendingError,
  PrecheckError,
  TransientError,
  UsageError,
  VerificationError,
}

/** Markdown table of every error code of voxmux, from the table in the code. */
export function allErrorsTable(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, [classes, when, remedy]]) => {
    const all: readonly ErrorClass[] = typeof classes === 'string' ? [classes] : classes
    const exits = [...new Set(all.map(exitCodeOf))].join(', ')
    return `| \`${code}\` | ${all.join(', ')} | ${exits} | ${when} | ${remedy} |`
  })
  return ['| code | class | exit code | when | what to do |', '| --- | --- | --- | --- | --- |', ...rows].join('\n')
}

function exitCodeOf(name: ErrorClass): string {
  switch (name) {
    case 'Response':
      return 'none'
    case 'InterruptedError':
      return String(new InterruptedError().exitCode)
    default:
      return String(new CLASSES[name]('ERR_INTERNAL', '').exitCode)
  }
}
