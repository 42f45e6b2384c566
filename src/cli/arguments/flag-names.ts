import type { Argv } from 'yargs'
import type { Command } from '../command.js'

/** Every long flag name that a parser accepts, in yargs's spellings. */
export function knownFlags(parser: Argv): readonly string[] {
  return Object.keys(optionsOf(parser).key).filter((name) => name.length > 1)
}

/** True if a name belongs to a positional argument. */
export function isPositional(name: string, { positionals }: Command): boolean {
  return [...positionals.matchAll(/\w+/g)].some(([word]) => word === name)
}

/** yargs's options. Its types hide them. */
export function optionsOf(parser: Argv): { readonly key: Record<string, unknown>; readonly array: readonly string[] } {
  return (parser as unknown as { getOptions(): { key: Record<string, unknown>; array: string[] } }).getOptions()
}
