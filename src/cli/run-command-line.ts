import { existsSync } from 'node:fs'
import { nearest } from '../config/nearest.js'
import { type ExitCode, toVoxmuxError, UsageError } from '../core/errors.js'
import { beforeDashes } from './arguments/operands.js'
import { parseArguments, wantsHelp } from './arguments/parse-arguments.js'
import type { CommandEntry } from './command.js'
import { COMMANDS, DEFAULT_COMMAND, findCommand } from './command-table.js'
import { type Interruption, watchInterruption } from './interruption.js'
import { nativeFault } from './native-fault.js'
import { createOutput, type Output } from './output/output.js'

/** Flags that may precede the command's name. */
const LEADING_FLAG = /^--(json|progress=.*|config=.*|profile=.*)$/

/** A word that is neither a flag nor a path. */
const BARE_WORD = /^[a-z]+$/i

const COMMAND_NAMES = COMMANDS.map(({ name }) => name)

/** Words for `--help` and `--version`. */
const SPOKEN = ['help', 'version']

/**
 * Runs one command and ends the process with its exit code. Reports the end once: as a sentence on stderr and, with
 * `--json`, as exactly one last `result` event.
 */
export async function runCommandLine(argv: readonly string[]): Promise<never> {
  const output = createOutput({ json: asksForJson(argv), stdout: process.stdout, stderr: process.stderr })
  const interruption = watchInterruption(output)
  // While an extension's hook waits, Node would otherwise end the process midway with exit code 13.
  setInterval(() => {}, 2 ** 30)
  try {
    return await leave(await dispatch(argv, output, interruption), output)
  } catch (thrown) {
    const error = toVoxmuxError(interruption.signal.aborted ? interruption.error(thrown) : nativeFault(thrown))
    output.fail(error)
    return await leave(error.exitCode, output)
  }
}

async function dispatch(argv: readonly string[], output: Output, interruption: Interruption): Promise<ExitCode> {
  const { signal, onHangUp } = interruption
  const { entry, rest } = chooseCommand(spokenFlags(argv))
  const { command } = await entry.load()
  const args = await parseArguments(entry, command, rest)
  if (args.kind === 'help') {
    process.stdout.write(`${args.text}\n`)
    return 0
  }
  const context = { cwd: process.cwd(), env: process.env, signal, onHangUp, output, commands: COMMANDS }
  return command.run(args.values, context)
}

/**
 * `voxmux help run` means `voxmux run --help`, unless a file is named help.
 *
 * @throws UsageError `ERR_USAGE` if help is asked for a word that is not a command
 */
function spokenFlags(argv: readonly string[]): readonly string[] {
  const [word, ...rest] = argv
  if (word !== 'help' || existsSync(word)) return argv
  const [asked = ''] = rest
  if (findCommand(asked)) return [...rest, '--help']
  if (!BARE_WORD.test(asked)) return argv
  throw unknownWord(`"${asked}" is not a command.`, 'voxmux help', nearest(asked, COMMAND_NAMES))
}

/** The first word names a command. Otherwise all words are arguments of `run`. */
function chooseCommand(argv: readonly string[]): { entry: CommandEntry; rest: readonly string[] } {
  const at = argv.findIndex((word) => !LEADING_FLAG.test(word))
  const word = argv[at] ?? ''
  const named = findCommand(word)
  if (named) return { entry: named, rest: argv.toSpliced(at, 1) }
  refuseUnknownWord(word)
  const fallback = findCommand(DEFAULT_COMMAND)
  if (!fallback) throw new UsageError('ERR_USAGE', `The command "${word}" does not exist.`)
  return { entry: fallback, rest: argv }
}

/** Refuses a bare word that names neither a command nor a file. As an input, it would get the help and the faults of `run`. */
function refuseUnknownWord(word: string): void {
  if (!BARE_WORD.test(word) || existsSync(word)) return
  throw unknownWord(
    `"${word}" is neither a command nor a file.`,
    'voxmux',
    nearest(word, [...COMMAND_NAMES, ...SPOKEN]),
  )
}

function unknownWord(what: string, called: string, guess: string | undefined): UsageError {
  const hint = guess === undefined ? '' : ` Did you mean \`${called} ${guess}\`?`
  return new UsageError('ERR_USAGE', `${what}${hint}`, {
    remedies: [`The commands are ${COMMAND_NAMES.join(', ')}. \`voxmux --help\` explains them.`],
  })
}

function asksForJson(argv: readonly string[]): boolean {
  const words = beforeDashes(argv)
  if (words.some((word) => word === '--json' || word === '--json=true')) return true
  if (wantsHelp(argv)) return false
  const named = findCommand(argv.find((word) => !LEADING_FLAG.test(word)) ?? '')
  return named?.speaksJson?.(words) ?? false
}

/** Flushes all output, then exits even if a socket is still open. */
async function leave(exitCode: ExitCode, output: Output): Promise<never> {
  process.exit(await output.close(exitCode))
}
