#!/usr/bin/env node
import { COMMANDS } from './command-table.js'
import { overview } from './show/overview.js'

/** Entry of the command line. `--help`, `--version` and completion skip the argument parser, to be quick. */
const argv = process.argv.slice(2)
const [first] = argv

if (argv.length === 1 && (first === '--version' || first === '-v' || first === 'version')) {
  const { voxmuxVersion } = await import('../core/version.js')
  process.stdout.write(`${voxmuxVersion()}\n`)
} else if (argv.length === 0 || (argv.length === 1 && (first === '--help' || first === '-h' || first === 'help'))) {
  const isAsked = argv.length > 0
  if (!isAsked) process.exitCode = 2
  ;(isAsked ? process.stdout : process.stderr).write(overview(COMMANDS))
} else {
  const { boundMemory } = await import('./bounded-memory.js')
  boundMemory()
  const { reportUnloadable } = await import('./unloadable.js')
  const loaded = await import('./run-command-line.js').catch((thrown) => reportUnloadable(argv, thrown))
  await loaded?.runCommandLine(argv)
}
