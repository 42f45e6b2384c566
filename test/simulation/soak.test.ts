import { expect, it } from 'vitest'
import { runMonths } from './run-months.js'

/** `npm test` runs 250 months in `months-*.test.ts`. */
it.runIf(process.env.VOXMUX_SOAK)(
  'keeps its promises through 10,000 months, on all cores (only in the soak)',
  async () => {
    expect(await runMonths({ months: 10_000 })).toBeNull()
  },
)
