import { basename, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Colors } from 'picocolors/types.js'
import type { FileEvent } from '../../pipeline/events.js'

/** The line of an input that ended, or was put off; a daemon has other words for the latter. Null: nothing to say. */
export type FileLine = (event: FileEvent, colors: Colors, cwd: string) => string | null

/** How an input ended, for people: one line, and under a failure what can be done. */
export function fileLine({ input, status, output, error }: FileEvent, colors: Colors, cwd: string): string {
  const name = harmless(basename(input))
  const why = error ? harmless(ownWords(error.message, input)) : ''
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

/** The same for what runs for months: what is put off is tried again by itself. */
export function daemonFileLine(event: FileEvent, colors: Colors, cwd: string): string {
  const { input, status, error } = event
  if (status !== 'pending') return fileLine(event, colors, cwd)
  const name = `${colors.cyan('…')} ${harmless(basename(input))}`
  if (error?.code === 'ERR_INTERRUPTED') return `${name} goes on with the next start.`
  return `${name} waits, and is tried again by itself${error ? `: ${harmless(ownWords(error.message, input))}` : '.'}`
}

/** The same, but silent on what is put off once more for the reason that was said last. */
export function saidOnce(lineOf: FileLine): FileLine {
  const said = new Map<string, string | null>()
  return (event, colors, cwd) => {
    const line = lineOf(event, colors, cwd)
    if (event.status !== 'pending') said.delete(event.input)
    else if (said.get(event.input) === line) return null
    else said.set(event.input, line)
    return line
  }
}

/** A file may be named with line breaks and control characters; a terminal obeys them. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}/gu, '�')
}

/** The message without the file's name, which the line begins with. */
function ownWords(message: string, input: string): string {
  if (message.startsWith(`${input}: `)) return message.slice(input.length + 2)
  return message.startsWith(`${input} `) ? `it${message.slice(input.length)}` : message
}

function shortPath(path: string | null, cwd: string): string {
  if (path === null) return ''
  const short = relative(cwd, path)
  return harmless(short.startsWith('..') ? path : short)
}
