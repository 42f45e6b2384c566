import { expect, it } from 'vitest'
import { percentBeforeEnd } from '../../src/pipeline/context.js'

it('a stage is at 100 percent only when it says so itself, whatever times ffmpeg reports', () => {
  expect([0, 5, 9.99, 10, 12].map((sec) => percentBeforeEnd(sec, 10))).toEqual([0, 50, 99, 99, 99])
  expect([percentBeforeEnd(3, null), percentBeforeEnd(3, 0)]).toEqual([0, 0])
})
