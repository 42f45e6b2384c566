/**
 * `npm run bench startup`: what it costs to ask voxmux for help, as a ratio of starting node at all. Measures the
 * built command line; medians of runs that alternate, so that a busy machine slows both alike.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { median } from './median.js'

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url))
const ROUNDS = 15
/** Asked for in the plan: at most three times as long as node needs to do nothing. */
const HIGHEST_RATIO = 3

if (!existsSync(MAIN)) throw new Error('Build first: npm run build')

for (const flag of ['--help', '--version']) {
  const rounds = Array.from({ length: ROUNDS }, () => elapsedMs([MAIN, flag]) / elapsedMs(['-e', '0']))
  const ratio = median(rounds)
  const verdict = ratio <= HIGHEST_RATIO ? 'holds' : 'too slow'
  process.stdout.write(
    `voxmux ${flag.padEnd(10)} ${ratio.toFixed(2)} × node -e 0 (at most ${HIGHEST_RATIO}: ${verdict})\n`,
  )
}

/** Milliseconds of a node process from start to end. */
function elapsedMs(args: readonly string[]): number {
  const began = performance.now()
  spawnSync(process.execPath, args, { stdio: 'ignore' })
  return performance.now() - began
}
