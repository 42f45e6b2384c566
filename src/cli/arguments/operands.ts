import { existsSync } from 'node:fs'
import { UsageError } from '../../core/errors.js'

/** A process argument cannot contain this character. */
const MARK = '\0'

/** How JSON quotes the mark inside a yargs message. */
const QUOTED_MARK = '\\u0000'

/** The words of a command line. Operands that look like flags are hidden from the parser. */
export interface HiddenOperands {
  readonly words: readonly string[]
  /** Restores a value, or a list of values, as the user typed it. */
  readonly typed: <Value>(value: Value) => Value
  /** Restores a sentence that quotes hidden words. */
  readonly restored: (sentence: string) => string
}

/** The words that may be flags: those before `--`. */
export function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return end === -1 ? argv : argv.slice(0, end)
}

/**
 * Hides the words that are never flags: everything after `--`, and a lone hyphen. Without this, yargs keeps words after
 * `--` from the positional arguments and drops a lone hyphen from a list. Both would leave out a file silently.
 */
export function hideOperands(argv: readonly string[]): HiddenOperands {
  const before = beforeDashes(argv)
  const after = argv.slice(before.length + 1)
  return {
    words: [...before.map(spelled), ...after.map((word) => MARK + word)],
    typed: (value) => (Array.isArray(value) ? value.map(unmarked) : unmarked(value)) as typeof value,
    restored: (sentence) => sentence.replaceAll(MARK, '').replaceAll(QUOTED_MARK, ''),
  }
}

/** yargs reads `--no-input` as `--input=false`, which is another flag. */
function spelled(word: string): string {
  return word === '-' ? MARK + word : word === '--no-input' ? '--no-input=true' : word
}

function unmarked(value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : value
}

/**
 * Rejects an empty word, which an unset variable leaves behind. As a path it would mean the working folder, and voxmux
 * would process and pay for everything in it.
 *
 * @throws UsageError `ERR_USAGE`
 */
export function refuseEmpty(name: string, value: unknown, isOperand: boolean): void {
  if (!(Array.isArray(value) ? value : [value]).includes('')) return
  throw new UsageError('ERR_USAGE', isOperand ? 'An argument is empty.' : `--${name} is empty.`, {
    remedies: ['Check that the variable it comes from is set.'],
  })
}

/** The flags of a command, in yargs's lists. */
export interface KnownOptions {
  readonly key: Readonly<Record<string, unknown>>
  readonly boolean: readonly string[]
  readonly number: readonly string[]
}

/**
 * Rejects `--no-NAME` of a flag that takes a value, for which yargs gives `false`. Rejects an empty number, for which it
 * gives 0. Then `--mix ""` would regenerate nothing.
 *
 * @throws UsageError `ERR_USAGE`
 */
export function refuseValueless(words: readonly string[], { key, boolean, number }: KnownOptions): void {
  for (const [place, word] of words.entries()) {
    const [typed = '', value = words[place + 1]] = word.split(/=(.*)/s)
    const name = typed.slice(2)
    const turnedOff = name.replace(/^no-/, '')
    if (!typed.startsWith('--')) continue
    if (number.includes(name)) refuseEmpty(name, value, false)
    if (turnedOff === name || name in key || !(turnedOff in key) || boolean.includes(turnedOff)) continue
    throw new UsageError('ERR_USAGE', `${typed} is not an option: --${turnedOff} takes a value.`, {
      remedies: [`Leave it out, or give --${turnedOff} its value.`],
    })
  }
}

/**
 * Rejects a word in place of a number, for which yargs gives NaN and forgets the word.
 *
 * @throws UsageError `ERR_CONFIG_VALUE`
 */
export function refuseNotANumber(name: string, value: unknown, words: readonly string[]): void {
  if (!Number.isNaN(Array.isArray(value) ? value.at(-1) : value)) return
  const typed = words
    .flatMap((word, place) => (word === `--${name}` ? [words[place + 1] ?? ''] : word.split(`--${name}=`).slice(1)))
    .at(-1)
  // yargs also gives the flag in camel case, which nobody typed.
  if (typed === undefined) return
  const remedy = /^\d+,\d+$/.test(typed)
    ? `Write a point instead of the comma: --${name} ${typed.replace(',', '.')}`
    : 'Write the number alone, without a unit.'
  throw new UsageError('ERR_CONFIG_VALUE', `--${name} takes a number, not "${typed}".`, { remedies: [remedy] })
}

/**
 * Rejects a file whose name begins with a hyphen, which a shell's `*` brings in. Its letters would be read as flags, and
 * the fault would name one of them, or a missing file. For arguments that yargs has rejected.
 *
 * @throws UsageError `ERR_USAGE`
 */
export function refuseDashedFile(argv: readonly string[]): void {
  const name = beforeDashes(argv).find((word) => word.startsWith('-') && word !== '-' && existsSync(word))
  if (name === undefined) return
  throw new UsageError('ERR_USAGE', `The file ${name} begins with a hyphen, so its name is read as a flag.`, {
    remedies: [`Write ./ before the name: ./${name}`],
  })
}
