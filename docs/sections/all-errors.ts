import { ERROR_CODES, type ErrorClass } from '../../src/core/error-codes.js'
import * as errors from '../../src/core/errors.js'

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
      return String(new errors.InterruptedError().exitCode)
    default:
      return String(new errors[name]('ERR_INTERNAL', '').exitCode)
  }
}
