import type { Argv, Options, PositionalOptions } from 'yargs'
import { presetNames } from '../../config/load-preset.js'
import type { Command } from '../command.js'

/** A flag or an operand, as help, completion and the manual show it. */
export interface OptionFacts {
  /** Without hyphens. */
  readonly name: string
  /** One letter, or empty. */
  readonly alias: string
  readonly describe: string
  readonly takesValue: boolean
  /** The values that a shell offers; empty if they are free. */
  readonly values: readonly string[]
  /** The default, if the description does not name it. */
  readonly default: string | undefined
}

/** The flags of a command by their names, and its operands in order. */
export interface CommandFacts {
  readonly flags: readonly OptionFacts[]
  readonly operands: readonly OptionFacts[]
}

/** Reads the options of a command from what it declares to its parser. */
export async function commandFacts(command: Command): Promise<CommandFacts> {
  const flags: OptionFacts[] = []
  const operands: OptionFacts[] = []
  const offered: Readonly<Record<string, readonly string[]>> = {
    preset: await presetNames(),
    track: ['only', 'all', 'default'],
    topic: ['show', 'account', 'keys', 'credits', 'webhook'],
  }
  const factsOf = (name: string, declared: Options): OptionFacts => ({
    name,
    alias: String(declared.alias ?? ''),
    describe: declared.describe ?? '',
    takesValue: declared.type !== 'boolean',
    values: (declared.choices ?? offered[name] ?? []).map(String),
    default: declared.default === undefined || declared.default === false ? undefined : String(declared.default),
  })
  const recorder = {
    option: (name: string, declared: Options) => recorder.options({ [name]: declared }),
    options: (all: Record<string, Options>) => {
      flags.push(...Object.entries(all).map(([name, declared]) => factsOf(name, declared)))
      return recorder
    },
    positional: (name: string, declared: PositionalOptions) => {
      operands.push(factsOf(name, declared as Options))
      return recorder
    },
  }
  command.build(recorder as unknown as Argv)
  return { flags: flags.sort((one, other) => (one.name < other.name ? -1 : 1)), operands }
}
