#!/usr/bin/env node
/** Entry of the command line. It is written for Node 12, which cannot read the other modules, to say so. */
import('./start-command-line.js').then(
  ({ startCommandLine }) => startCommandLine(process.argv.slice(2)),
  (thrown) => {
    if (!(thrown instanceof SyntaxError)) throw thrown
    const version = process.versions.node
    process.stderr.write(`voxmux: Node ${version} is too old for voxmux.\n  → Install Node 20.19 or newer.\n`)
    process.exitCode = 2
  },
)
