import { expect, it } from 'vitest'
import { runMonth } from './month.js'
import { MOST_PARTS } from './parts.js'

const PARTS = Number(process.env.VOXMUX_PARTS ?? MOST_PARTS)
const SEED = process.env.VOXMUX_SEED
/** The soak runs its months in processes of their own: see `soak.test.ts`. */
const MONTHS = Number(process.env.VOXMUX_MONTHS ?? (process.env.VOXMUX_SOAK ? 100 : 60))
/** Months of one test, so that each stays well below the time limit of a test on a busy machine. */
const MONTHS_OF_A_TEST = 20
const TIME_LIMIT_MS = 300_000

/** Declares the tests of one part: of the seeds from 1 on, each fourth. @param part from 1 */
export function declareMonths(part: number): void {
  const seeds = SEED
    ? [Number(SEED)]
    : Array.from({ length: Math.ceil((MONTHS - part + 1) / PARTS) }, (_, at) => part + at * PARTS)
  const groups = Array.from({ length: Math.ceil(seeds.length / MONTHS_OF_A_TEST) }, (_, at) =>
    seeds.slice(at * MONTHS_OF_A_TEST, (at + 1) * MONTHS_OF_A_TEST),
  )
  it.each(groups.map((group) => [group[0], group.at(-1), group] as const))(
    'keeps its promises through simulated months, seeds %i to %i',
    async (_first, _last, group) => {
      for (const seed of group) await keepsItsPromises(seed)
    },
    TIME_LIMIT_MS,
  )
}

async function keepsItsPromises(seed: number): Promise<void> {
  const { broken, payments } = await runMonth(seed)
  if (broken)
    process.stdout.write(`${broken.history.join('\n')}\n${broken.message}\nReplay it: npm run simulate -- ${seed}\n`)
  expect(broken?.message ?? null).toBeNull()
  if (SEED) process.stdout.write(`Seed ${seed} keeps its promises; ${payments} voices were paid for.\n`)
}
