import { COMMANDS } from './command-table.js'
import { firstFault, stdoutFaultLine } from './output/stdout-fault.js'
import { overview } from './show/overview.js'

/** Runs a command line. `--help`, `--version` and completion skip the argument parser, to be quick. */
export async function startCommandLine(argv: readonly string[]): Promise<void> {
  const [first] = argv
  if (argv.length === 1 && (first === '--version' || first === '-v' || first === 'version')) {
    const { voxmuxVersion } = await import('../core/package-folder.js')
    say(`${voxmuxVersion()}\n`)
  } else if (argv.length === 0 || (argv.length === 1 && (first === '--help' || first === '-h' || first === 'help'))) {
    if (argv.length > 0) say(overview(COMMANDS, process.stdout.columns || undefined))
    else {
      process.exitCode = 2
      process.stderr.write(overview(COMMANDS, process.stderr.columns || undefined))
    }
  } else {
    const { boundMemory } = await import('./bounded-memory.js')
    boundMemory()
    const { reportUnloadable } = await import('./unloadable.js')
    const loaded = await import('./run-command-line.js').catch((thrown) => reportUnloadable(argv, thrown))
    await loaded?.runCommandLine(argv)
  }
}

function say(text: string): void {
  const faultOfStdout = firstFault(process.stdout)
  process.stdout.on('error', () => {
    const fault = faultOfStdout()
    if (!fault) return
    process.exitCode = 4
    process.stderr.write(`${stdoutFaultLine(fault)}\n`)
  })
  process.stdout.write(text)
}
