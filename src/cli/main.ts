#!/usr/bin/env node
import { COMMANDS } from './command-table.js'
import { overview } from './overview.js'

/**
 * Entry of the command line. `--help` and `--version` are answered from the command table alone, without loading
 * the argument parser: a person (or a shell's completion) asks often and does not want to wait.
 */
const argv = process.argv.slice(2)
const [first] = argv

if (argv.length === 1 && (first === '--version' || first === '-v')) {
  const { voxmuxVersion } = await import('../core/version.js')
  process.stdout.write(`${voxmuxVersion()}\n`)
} else if (argv.length === 0 || (argv.length === 1 && (first === '--help' || first === '-h' || first === 'help'))) {
  const isAsked = argv.length > 0
  if (!isAsked) process.exitCode = 2
  ;(isAsked ? process.stdout : process.stderr).write(overview(COMMANDS))
} else {
  const { boundMemory } = await import('./bounded-memory.js')
  boundMemory()
  const { runCommandLine } = await import('./run-command-line.js')
  await runCommandLine(argv)
}
