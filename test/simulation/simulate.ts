import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Lines of the history that a replay shows. */
const HISTORY_LINES = '2000'

/** Replays the month of one seed and shows what happens in it: `npm run simulate -- SEED`. */
const [seed] = process.argv.slice(2)
if (seed === undefined || !/^\d+$/.test(seed)) {
  process.stderr.write('A seed is missing. Name one: npm run simulate -- 42\n')
  process.exitCode = 2
} else {
  const test = fileURLToPath(new URL('simulation.test.ts', import.meta.url))
  const env = { ...process.env, VOXMUX_SEED: seed, VOXMUX_HISTORY: HISTORY_LINES }
  process.exitCode = spawnSync('npx', ['vitest', 'run', test], { env, stdio: 'inherit' }).status ?? 1
}
