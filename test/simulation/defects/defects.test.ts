import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { MONTHS_FOR_A_DEFECT, runMonths } from '../run-months.js'
import { DEFECTS } from './defects.js'
import { withDefect } from './with-defect.js'

/** One proves that a broken promise is found at all. The soak looks for all but the hidden ones. */
const WANTED = process.env.VOXMUX_SOAK ? DEFECTS.filter(({ isHidden }) => !isHidden) : DEFECTS.slice(0, 1)

it.each(DEFECTS.map((defect) => [defect.name, defect] as const))('fits the source: %s', async (name, { changes }) => {
  for (const { file } of changes) {
    const source = await readFile(file, 'utf8')
    expect(withDefect(source, file, name)).not.toBe(source)
  }
})

it.each(WANTED)('is found: $name', { timeout: 300_000 }, async ({ name }) => {
  expect(await runMonths({ months: MONTHS_FOR_A_DEFECT, defect: name })).toMatch(/^Seed \d+ breaks "/)
})
