import './outside/replace.js'
import { expect, it } from 'vitest'
import { runMonth } from './month.js'

const SEED = process.env.VOXMUX_SEED
const MONTHS = process.env.VOXMUX_SOAK ? 2000 : 100
/** Months of one test, so that each stays well below the time limit of a test on a busy machine. */
const MONTHS_OF_A_TEST = 20

const firsts = SEED
  ? [Number(SEED)]
  : Array.from({ length: MONTHS / MONTHS_OF_A_TEST }, (_, part) => 1 + part * MONTHS_OF_A_TEST)

it.each(firsts)('keeps its promises through simulated months, from seed %i on', async (first) => {
  for (let seed = first; seed < first + (SEED ? 1 : MONTHS_OF_A_TEST); seed++) {
    const { broken, payments } = await runMonth(seed)
    if (broken) process.stdout.write(`${broken.history.join('\n')}\nReplay it: npm run simulate -- ${seed}\n`)
    expect(broken?.message ?? null).toBeNull()
    if (SEED) process.stdout.write(`Seed ${seed} keeps its promises; ${payments} voices were paid for.\n`)
  }
})
