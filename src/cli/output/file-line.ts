import { basename, relative } from 'node:path'
import type { Colors } from 'picocolors/types.js'
import type { FileEvent } from '../../pipeline/events.js'

/** How an input ended, for people: one line, and under a failure what can be done. */
export function fileLine({ input, status, output, error }: FileEvent, colors: Colors, cwd: string): string {
  const name = basename(input)
  const why = error ? ownWords(error.message, input) : ''
  const remedies = (error?.remedies ?? []).map((remedy) => `\n    → ${remedy}`).join('')
  switch (status) {
    case 'done':
      return `${colors.green('✔')} ${name} → ${shortPath(output, cwd)}`
    case 'skipped':
      return `${colors.dim('✔')} ${name}: already done → ${shortPath(output, cwd)}`
    case 'rejected':
      return `${colors.yellow('✖')} ${name} is refused: ${why}${remedies}`
    case 'failed':
      return `${colors.red('✖')} ${name} failed: ${why}${remedies}`
    case 'pending':
      return `${colors.cyan('…')} ${name} is still running: run the same command again to attach.${why && ` ${why}`}`
    default:
      return status satisfies never
  }
}

/** The message without the file's name, which the line begins with. */
function ownWords(message: string, input: string): string {
  return message.startsWith(`${input}: `) ? message.slice(input.length + 2) : message
}

function shortPath(path: string | null, cwd: string): string {
  if (path === null) return ''
  const short = relative(cwd, path)
  return short.startsWith('..') ? path : short
}
