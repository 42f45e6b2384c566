import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { DEFECTS } from './defects/defects.js'
import { MONTHS_FOR_A_DEFECT, runMonths } from './run-months.js'

/** Lines of the history that a replay shows. */
const HISTORY_LINES = '2000'
const USAGE = `Replay the month of a seed:         npm run simulate -- 42
Simulate the months of many seeds:  npm run simulate -- --months 10000
Put defects back, one by one:       npm run simulate -- --defects
`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { months: { type: 'string' }, defects: { type: 'boolean' } },
})
const [seed] = positionals
if (seed !== undefined && /^\d+$/.test(seed)) process.exitCode = replay(seed)
else if (values.months !== undefined) process.exitCode = await simulate(Number(values.months))
else if (values.defects) process.exitCode = await findDefects()
else {
  process.stderr.write(USAGE)
  process.exitCode = 2
}

function replay(seed: string): number {
  const test = fileURLToPath(new URL('months-1.test.ts', import.meta.url))
  const env = { ...process.env, VOXMUX_SEED: seed, VOXMUX_HISTORY: HISTORY_LINES }
  return spawnSync('npx', ['vitest', 'run', test], { env, stdio: 'inherit' }).status ?? 1
}

async function simulate(months: number): Promise<number> {
  const beganMs = performance.now()
  const broken = await runMonths({ months })
  const tookSec = ((performance.now() - beganMs) / 1000).toFixed(0)
  process.stdout.write(`${broken ?? `Every promise was kept through ${months} months.`} (${tookSec} s)\n`)
  return broken === null ? 0 : 1
}

async function findDefects(): Promise<number> {
  let found = 0
  let missed = 0
  for (const { name, isHidden } of DEFECTS) {
    const broken = await runMonths({ months: MONTHS_FOR_A_DEFECT, defect: name })
    if (broken !== null) found += 1
    else if (!isHidden) missed += 1
    process.stdout.write(
      `${broken === null ? 'NOT FOUND' : 'found'}: ${name}\n${broken === null ? '' : `  ${broken}\n`}`,
    )
  }
  process.stdout.write(`${found} of ${DEFECTS.length} defects were found, each within ${MONTHS_FOR_A_DEFECT} months.\n`)
  return missed === 0 ? 0 : 1
}
