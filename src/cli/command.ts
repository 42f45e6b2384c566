import type { ArgumentsCamelCase, Argv } from 'yargs'
import type { ExitCode } from '../core/errors.js'
import type { Output } from './output/output.js'

/** What a command is given besides its arguments. */
export interface CommandContext {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Fires on the first Ctrl-C (or SIGTERM, SIGHUP): stop, leave nothing behind, end with 130. */
  readonly signal: AbortSignal
  /** See `Interruption`. */
  readonly answerHangUp: (answer: () => void) => void
  readonly output: Output
  /** All commands there are. */
  readonly commands: readonly CommandEntry[]
}

/** A command as the command line knows it: its options, and what it does with them. */
export interface Command {
  /** Positional arguments in yargs's notation, e.g. `<input..>`; empty for none. */
  readonly positionals: string
  /** Invocation without `voxmux`, and what it does. */
  readonly examples: readonly (readonly [invocation: string, meaning: string])[]
  readonly build: (parser: Argv) => Argv
  /** Ends with the exit code; what it throws is reported and becomes one. */
  readonly run: (args: ArgumentsCamelCase, context: CommandContext) => Promise<ExitCode>
}

/** A line of `voxmux --help`, and the module behind it, which is only loaded when it is called. */
export interface CommandEntry {
  readonly name: string
  /** What stands after the name, for people. */
  readonly usage: string
  readonly summary: string
  /** Whether it speaks as with `--json` without being asked, given its arguments; default no. */
  readonly speaksJson?: (words: readonly string[]) => boolean
  readonly load: () => Promise<{ readonly command: Command }>
}

/** Ties the type of the arguments to the options that are built, and forgets it again. */
export function defineCommand<Options>(command: {
  readonly positionals: string
  readonly examples: Command['examples']
  readonly build: (parser: Argv) => Argv<Options>
  readonly run: (args: ArgumentsCamelCase<Options>, context: CommandContext) => Promise<ExitCode>
}): Command {
  return command as unknown as Command
}
