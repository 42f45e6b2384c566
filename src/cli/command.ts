import type { ArgumentsCamelCase, Argv } from 'yargs'
import type { ExitCode } from '../core/errors.js'
import type { Output } from './output/output.js'

/** The surroundings of a command: everything but its arguments. */
export interface CommandContext {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Fires on the first Ctrl-C (or SIGTERM, SIGHUP). The command stops, cleans up and ends with 130. */
  readonly signal: AbortSignal
  /** See `Interruption`. */
  readonly onHangUp: (handler: () => void) => void
  readonly output: Output
  readonly commands: readonly CommandEntry[]
}

/** A command: its options and what it does. */
export interface Command {
  /** Positional arguments in yargs's notation, e.g. `<input..>`; empty for none. */
  readonly positionals: string
  /** An invocation without `voxmux`, and its effect. */
  readonly examples: readonly (readonly [invocation: string, meaning: string])[]
  readonly build: (parser: Argv) => Argv
  /** Resolves to the exit code. The caller reports a thrown error and turns it into one. */
  readonly run: (args: ArgumentsCamelCase, context: CommandContext) => Promise<ExitCode>
}

/** A line of `voxmux --help` and the module behind it, loaded only when the command is called. */
export interface CommandEntry {
  readonly name: string
  /** The usage text after the name. */
  readonly usage: string
  readonly summary: string
  /** True if these arguments print events as `--json` does; default false. */
  readonly speaksJson?: (words: readonly string[]) => boolean
  readonly load: () => Promise<{ readonly command: Command }>
}

/** Ties the type of the arguments to the options of the parser, then erases it. */
export function defineCommand<Options>(command: {
  readonly positionals: string
  readonly examples: Command['examples']
  readonly build: (parser: Argv) => Argv<Options>
  readonly run: (args: ArgumentsCamelCase<Options>, context: CommandContext) => Promise<ExitCode>
}): Command {
  return command as unknown as Command
}
