import { basename, relative } from 'node:path'
import type { Colors } from 'picocolors/types.js'
import { visibleText } from '../../core/visible-text.js'
import type { FileEvent } from '../../pipeline/events.js'
import { remediesOfQueued } from '../../pipeline/queue/retry-job.js'
import { isWebAddress } from '../../pipeline/web-address.js'
import { remedyLines } from './wording.js'

/** The line of an input that ended or was deferred. A daemon words deferrals differently. Null prints nothing. */
export type FileLine = (event: FileEvent, colors: Colors, cwd: string) => string | null

/** Describes how an input ended, in one line, with the remedies below a failure. */
export function fileLine({ input, status, output, error }: FileEvent, colors: Colors, cwd: string): string {
  // The folder may be what is mistyped.
  const name = error?.code === 'ERR_INPUT_MISSING' ? shortPath(input, cwd) : visibleText(basename(input))
  const why = error ? visibleText(withoutInput(error.message, input)) : ''
  const remedies = ['', ...remedyLines(error?.remedies ?? [])].join('\n')
  switch (status) {
    case 'done':
      return `${colors.green('✔')} ${name} → ${shortPath(output, cwd)}`
    case 'skipped':
      if (output === input)
        return `${colors.dim('✔')} ${name} is already an output of voxmux. Use --force to regenerate it again.`
      return `${colors.dim('✔')} ${name}: already done → ${shortPath(output, cwd)}`
    case 'rejected':
      return `${colors.yellow('✖')} ${name} was refused${after(why)}${remedies}`
    case 'failed':
      return `${colors.red('✖')} ${name} failed${after(why)}${remedies}`
    case 'pending':
      return `${colors.cyan('…')} ${name} ${pendingWords(error?.code, why)}${remedies}`
    default:
      return status satisfies never
  }
}

/** Describes why an input has not ended. */
function pendingWords(code: string | undefined, why: string): string {
  switch (code) {
    case 'ERR_INTERRUPTED':
      return `stopped. Nothing was lost.${why === 'Interrupted.' ? '' : ` ${why}`}`
    case 'ERR_STILL_RUNNING':
      return `is still running. ${why}`
    default:
      return `is waiting${after(why)}`
  }
}

/** The same line for a daemon, which retries deferred files itself. */
export function daemonFileLine(event: FileEvent, colors: Colors, cwd: string): string {
  const { id, input, status, error } = event
  if ((status === 'failed' || status === 'rejected') && error)
    return fileLine({ ...event, error: { ...error, remedies: remediesOfQueued(error, id) } }, colors, cwd)
  if (status !== 'pending') return fileLine(event, colors, cwd)
  const name = `${colors.cyan('…')} ${visibleText(basename(input))}`
  if (error?.code === 'ERR_INTERRUPTED') return `${name} continues at the next start.`
  return `${name} is waiting, and voxmux will retry it${error ? after(visibleText(withoutInput(error.message, input))) : '.'}`
}

/** The same line below the lines of stages. Otherwise null, because a program reads the end of a file in its event. */
export function besideEvents(style: 'auto' | 'plain' | 'none' | undefined, lineOf: FileLine): FileLine {
  return style === 'plain' ? lineOf : () => null
}

/** The same line, but null if a file is deferred again for the same reason. */
export function withoutRepeats(lineOf: FileLine): FileLine {
  const said = new Map<string, string | null>()
  return (event, colors, cwd) => {
    const line = lineOf(event, colors, cwd)
    if (event.status !== 'pending') said.delete(event.input)
    else if (said.get(event.input) === line) return null
    else said.set(event.input, line)
    return line
  }
}

/** Drops the file's name from the message, because the line starts with it. */
function withoutInput(message: string, input: string): string {
  if (message.startsWith(`${input}: `)) return message.slice(input.length + 2)
  return message.startsWith(`${input} `) ? `it${message.slice(input.length)}` : message
}

/** A reason that is a sentence of its own follows a full stop, and any other a colon. */
function after(why: string): string {
  return `${/^\p{Lu}/u.test(why) ? '.' : ':'} ${why}`
}

function shortPath(path: string | null, cwd: string): string {
  if (path === null) return ''
  if (isWebAddress(path)) return visibleText(path)
  const short = relative(cwd, path)
  return visibleText(short.startsWith('..') ? path : short)
}
