import './outside/replace.js'
import { expect, it } from 'vitest'
import { runMonth } from './month.js'

it('replays a seed to the same step', async () => {
  for (const seed of [3, 4]) {
    const [first, second]: [string[], string[]] = [[], []]
    await runMonth(seed, first)
    await runMonth(seed, second)
    expect(first.length).toBeGreaterThan(100)
    expect(second).toEqual(first)
  }
})
