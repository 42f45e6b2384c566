import { UsageError } from '../core/errors.js'

/** No argument of a process can hold it. */
const MARK = '\0'

/** How it stands in a sentence that quotes it as JSON does. */
const QUOTED_MARK = '\\u0000'

/** The words of a command line, those that only look like flags hidden from the parser. */
export interface HiddenOperands {
  readonly words: readonly string[]
  /** A value, or the list of them, as it was typed. */
  readonly typed: <Value>(value: Value) => Value
  /** A sentence about them, without what hid them. */
  readonly told: (sentence: string) => string
}

/**
 * Hides the words that are never flags: all that follow `--`, and a lone hyphen. yargs keeps what follows `--` from
 * the arguments by place, says nothing of it, and drops a lone hyphen from a list: a file would be left out unsaid.
 */
export function hideOperands(argv: readonly string[]): HiddenOperands {
  const end = argv.indexOf('--')
  const before = end === -1 ? argv : argv.slice(0, end)
  const after = end === -1 ? [] : argv.slice(end + 1)
  return {
    words: [...before.map((word) => (word === '-' ? MARK + word : word)), ...after.map((word) => MARK + word)],
    typed: (value) => (Array.isArray(value) ? value.map(unmarked) : unmarked(value)) as typeof value,
    told: (sentence) => sentence.replaceAll(MARK, '').replaceAll(QUOTED_MARK, ''),
  }
}

function unmarked(value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : value
}

/**
 * Refuses an empty word, as a variable that is not set leaves one behind: as a path it would be the working folder,
 * and everything in there would be worked on and paid for.
 *
 * @throws UsageError `ERR_USAGE`
 */
export function refuseEmpty(name: string, value: unknown, isOperand: boolean): void {
  if (!(Array.isArray(value) ? value : [value]).includes('')) return
  throw new UsageError('ERR_USAGE', isOperand ? 'An argument is empty.' : `--${name} is empty.`, {
    remedies: ['Was it to come from a variable that is not set?'],
  })
}
