import { existsSync } from 'node:fs'
import { nearest } from '../config/nearest.js'
import { type ExitCode, toVoxmuxError, UsageError } from '../core/errors.js'
import type { CommandEntry } from './command.js'
import { COMMANDS, DEFAULT_COMMAND, findCommand } from './command-table.js'
import { type Interruption, watchInterruption } from './interruption.js'
import { createOutput, type Output } from './output/output.js'
import { parseArguments } from './parse-arguments.js'

/** Flags that may stand before the command's name. */
const LEADING_FLAG = /^--(json|progress=.*|config=.*|profile=.*)$/

/**
 * Runs one command and ends the process with its exit code. Whatever happens is told once: as a sentence on stderr,
 * and with `--json` by exactly one last `result` event.
 */
export async function runCommandLine(argv: readonly string[]): Promise<never> {
  const output = createOutput({ json: asksForJson(argv), stdout: process.stdout, stderr: process.stderr })
  const interruption = watchInterruption(output)
  stayAwake()
  try {
    return await leave(await dispatch(argv, output, interruption), output)
  } catch (thrown) {
    const error = toVoxmuxError(interruption.signal.aborted ? interruption.error(thrown) : thrown)
    output.fail(error)
    return await leave(error.exitCode, output)
  }
}

/** A plugin's hook that waits for what never comes would else let Node end the process in mid-sentence (exit 13). */
function stayAwake(): void {
  setInterval(() => {}, 2 ** 30)
}

async function dispatch(argv: readonly string[], output: Output, interruption: Interruption): Promise<ExitCode> {
  const { signal, answerHangUp } = interruption
  const { entry, rest } = chooseCommand(argv)
  const { command } = await entry.load()
  const args = await parseArguments(entry, command, rest)
  if (args.kind === 'help') {
    process.stdout.write(`${args.text}\n`)
    return 0
  }
  const context = { cwd: process.cwd(), env: process.env, signal, answerHangUp, output, commands: COMMANDS }
  return command.run(args.values, context)
}

/** The first word is a command's name, or everything belongs to `run`. */
function chooseCommand(argv: readonly string[]): { entry: CommandEntry; rest: readonly string[] } {
  const at = argv.findIndex((word) => !LEADING_FLAG.test(word))
  const word = argv[at] ?? ''
  const named = findCommand(word)
  if (named) return { entry: named, rest: argv.toSpliced(at, 1) }
  refuseMistypedCommand(word)
  const fallback = findCommand(DEFAULT_COMMAND)
  if (!fallback) throw new UsageError('ERR_USAGE', `There is no command "${word}".`)
  return { entry: fallback, rest: argv }
}

function refuseMistypedCommand(word: string): void {
  if (!/^[a-z]+$/i.test(word) || existsSync(word)) return
  const guess = nearest(
    word,
    COMMANDS.map(({ name }) => name),
  )
  if (guess === undefined) return
  throw new UsageError(
    'ERR_USAGE',
    `There is neither a command nor a file "${word}"; did you mean \`voxmux ${guess}\`?`,
    {
      remedies: ['`voxmux --help` lists the commands.'],
    },
  )
}

function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const words = end === -1 ? argv : argv.slice(0, end)
  if (words.some((word) => word === '--json' || word === '--json=true')) return true
  if (words.some((word) => word === '--help' || word === '-h')) return false
  const named = findCommand(argv.find((word) => !LEADING_FLAG.test(word)) ?? '')
  return named?.speaksJson?.(words) ?? false
}

/** Ends at once, even where something still holds a socket open, but never before what was said is out. */
async function leave(exitCode: ExitCode, output: Output): Promise<never> {
  await output.close(exitCode)
  process.exit(exitCode)
}
