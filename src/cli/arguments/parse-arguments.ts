import yargs, { type ArgumentsCamelCase, type Argv } from 'yargs'
import { nearest } from '../../config/nearest.js'
import { UsageError, VoxmuxError } from '../../core/errors.js'
import type { Command, CommandEntry } from '../command.js'
import { DEFAULT_COMMAND } from '../command-table.js'
import {
  beforeDashes,
  type HiddenOperands,
  hideOperands,
  type KnownOptions,
  refuseDashedFile,
  refuseEmpty,
  refuseNotANumber,
  refuseValueless,
} from './operands.js'

/** Operands that users know by another name than the code. */
const OPERAND_NAMES: Readonly<Record<string, string>> = { input: 'file', cut: 'timeline' }

/** A flag of voxmux itself, which no command has. */
const VERSION = 'version'

type ParsedArguments =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'values'; readonly values: ArgumentsCamelCase }

/**
 * Reads a command's arguments. yargs gets the options of the called command only.
 *
 * @throws UsageError `ERR_USAGE`: one sentence, with the nearest flag if one was mistyped
 */
export async function parseArguments(
  entry: CommandEntry,
  command: Command,
  argv: readonly string[],
): Promise<ParsedArguments> {
  let values: ArgumentsCamelCase | undefined
  // yargs drops a command's options after parsing.
  let lists: readonly string[] = []
  const { words, typed, restored } = hideOperands(argv)
  const parser = yargs([...words])
    .scriptName(`voxmux ${entry.name}`)
    .locale('en')
    .detectLocale(false)
    .parserConfiguration({
      'greedy-arrays': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'strip-aliased': true,
    })
    .wrap(Math.min(110, process.stdout.columns ?? 100))
    .exitProcess(false)
    .version(false)
    .help('help')
    .alias('help', 'h')
    .showHelpOnFail(false)
    .strict()
    .fail((message: string | null, error: Error | undefined) => {
      if (error instanceof VoxmuxError) throw error
      refuseDashedFile(argv)
      throw new UsageError(
        'ERR_USAGE',
        sentence(restored(message ?? error?.message ?? ''), argv, parser, entry.name, command),
        {
          remedies: [`\`voxmux ${entry.name} --help\` shows the options and examples.`],
        },
      )
    })
    .command(
      `$0 ${command.positionals}`.trim(),
      entry.summary,
      (builder) => {
        const built = withExamples(command.build(builder), entry.name, command)
        lists = [...optionsOf(built).array]
        refuseValueless(words, optionsOf(built))
        return built
      },
      (parsed) => {
        values = parsed as ArgumentsCamelCase
      },
    )
  if (wantsHelp(argv)) return { kind: 'help', text: await parser.getHelp() }
  await parser.parseAsync()
  if (!values) throw new UsageError('ERR_USAGE', `voxmux could not read the arguments of \`voxmux ${entry.name}\`.`)
  return { kind: 'values', values: lastOfEach(values, lists, command, { words, typed }) }
}

function withExamples(parser: Argv, name: string, { examples }: Command): Argv {
  return examples.reduce((built, [line, meaning]) => built.example(`voxmux ${name} ${line}`.trim(), meaning), parser)
}

export function wantsHelp(argv: readonly string[]): boolean {
  return beforeDashes(argv).some((word) => word === '--help' || word === '-h')
}

/** Turns a yargs message into one sentence that names the flag as the user typed it. */
function sentence(message: string, argv: readonly string[], parser: Argv, name: string, command: Command): string {
  const unknown = /^Unknown arguments?: (.+)$/.exec(message)?.[1]
  if (unknown) {
    const names = unknown.split(', ').filter(isTyped)
    return names
      .map((name) => (argv.includes(name) ? `Unexpected argument "${name}".` : unknownFlag(name, argv, parser)))
      .join(' ')
  }
  const invalid = /Argument: (\S+), Given: (.+), Choices: (.+)/.exec(message)
  if (invalid) {
    const [, option = '', given = '', quoted = ''] = invalid
    const choices = quoted.replaceAll('"', '')
    const guess = nearest(given.replaceAll('"', ''), choices.split(', '))
    const allowed = isPositional(option, command)
      ? `The ${option} is ${choices.replace(/, ([^,]+)$/, ' or $1')}`
      : `--${option} takes ${choices}`
    return `${allowed}, not ${given}${guess ? `; did you mean ${guess}?` : '.'}`
  }
  const valueless = /^Not enough arguments following: (\S+)/.exec(message)?.[1]
  if (valueless) return `${flag(valueless)} needs a value.${hyphenHint(flag(valueless), argv, parser)}`
  if (/^Not enough non-option arguments/.test(message)) {
    // yargs takes the word after an unknown flag for its value, so the operand seems to be missing.
    const known = Object.keys(optionsOf(parser).key)
    const stray = beforeDashes(argv)
      .flatMap((word) => /^--(?:no-)?([^=]+)/.exec(word)?.[1] ?? /^-([a-z])$/i.exec(word)?.[1] ?? [])
      .find((name) => !known.includes(name))
    return stray === undefined ? missing(name, command) : unknownFlag(stray, argv, parser)
  }
  return message.split('\n')[0] ?? message
}

/** Says how to give a value that begins with a hyphen, if the next word may be one. */
function hyphenHint(typed: string, argv: readonly string[], parser: Argv): string {
  const next = argv[argv.indexOf(typed) + 1]
  if (next === undefined || /^-\w?$/.test(next) || knownFlags(parser).some((name) => next.startsWith(`--${name}`)))
    return ''
  return ` If it is ${next}, write ${typed}=${next}.`
}

function missing(name: string, { positionals, examples: [example] }: Command): string {
  const operand = /^<(\w+)/.exec(positionals)?.[1] ?? 'argument'
  const called = name === DEFAULT_COMMAND ? 'voxmux' : `voxmux ${name}`
  return `Which ${OPERAND_NAMES[operand] ?? operand}? For example: ${called} ${example?.[0] ?? ''}`
}

function unknownFlag(name: string, argv: readonly string[], parser: Argv): string {
  const typed = argv.includes(`--${name}`) ? `--${name}` : flag(name)
  const known = knownFlags(parser)
  const guess = name === 'V' ? VERSION : (nearest(name, [...known, VERSION]) ?? begunBy(name, known))
  const meant = guess === VERSION ? '`voxmux --version`' : `--${guess}`
  return `${typed} is not an option${guess ? `; did you mean ${meant}?` : '.'}`
}

/** The shortest flag that the name begins or continues: `--out` for `--output`, or the other way round. */
function begunBy(name: string, known: readonly string[]): string | undefined {
  if (name.length < 3) return undefined
  const alike = known.filter((one) => one.startsWith(name) || name.startsWith(one))
  return alike.sort((one, other) => one.length - other.length)[0]
}

/** yargs reports a hyphenated flag twice, the second time in camel case. */
function isTyped(name: string, _: number, names: readonly string[]): boolean {
  return !names.some((other) => other !== name && camelCase(other) === name)
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function flag(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`
}

/** If a flag is given twice, the last value wins. Lists collect all values. */
function lastOfEach(
  values: ArgumentsCamelCase,
  lists: readonly string[],
  command: Command,
  { words, typed }: Pick<HiddenOperands, 'words' | 'typed'>,
): ArgumentsCamelCase {
  const entries = Object.entries(values).map(([name, given]) => {
    const value = typed(given)
    const isOperand = isPositional(name, command)
    refuseEmpty(name, value, isOperand)
    refuseNotANumber(name, value, words)
    const isList = name === '_' || isOperand || lists.some((list) => list === name || camelCase(list) === name)
    return [name, Array.isArray(value) && !isList ? value.at(-1) : value]
  })
  return Object.fromEntries(entries) as ArgumentsCamelCase
}

/** Every long flag name that a parser accepts, in yargs's spellings. */
function knownFlags(parser: Argv): readonly string[] {
  return Object.keys(optionsOf(parser).key).filter((name) => name.length > 1)
}

function isPositional(name: string, { positionals }: Command): boolean {
  return [...positionals.matchAll(/\w+/g)].some(([word]) => word === name)
}

/** yargs's options. Its types hide them. */
function optionsOf(parser: Argv): KnownOptions & { readonly array: readonly string[] } {
  return (parser as unknown as { getOptions(): KnownOptions & { array: string[] } }).getOptions()
}
