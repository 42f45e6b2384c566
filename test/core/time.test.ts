import { expect, it } from 'vitest'
import { backoffMs, formatTime, parseDuration, parseTime, sleep } from '../../src/core/time.js'
import fc from '../helpers/properties.js'

it.each<[string, number | undefined]>([
  ['90', 90],
  ['1.5', 1.5],
  ['.5', 0.5],
  ['0', 0],
  [' 7 ', 7],
  ['1:30', 90],
  ['01:02:03.250', 3723.25],
  ['100:00:00', 360_000],
  ['90:00', 5400],
  ['1:60', undefined],
  ['1:60:00', undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['', undefined],
  ['1:', undefined],
  ['a', undefined],
  ['1:2:3:4', undefined],
  ['Infinity', undefined],
])('reads the time %j as %s', (text, sec) => {
  expect(parseTime(text)).toBe(sec)
})

it.each<[string, number | undefined]>([
  ['10m', 600],
  ['1h30m', 5400],
  ['45s', 45],
  ['500ms', 0.5],
  ['1m500ms', 60.5],
  ['1.5h', 5400],
  ['2:00', 120],
  ['12', 12],
  ['', undefined],
  ['m', undefined],
  ['5m1h', undefined],
  ['10 m', undefined],
  ['10x', undefined],
])('reads the duration %j as %s', (text, sec) => {
  expect(parseDuration(text)).toBe(sec)
})

it('reads back the time that it writes, to the millisecond', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 400_000_000 }), (millis) => {
      expect(Math.round((parseTime(formatTime(millis / 1000)) ?? -1) * 1000)).toBe(millis)
    }),
  )
})

it('backs off between half and all of a doubling time', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, random) => {
      const ceiling = Math.min(10_000, 250 * 2 ** Math.min(attempt, 30))
      const ms = backoffMs(attempt, 250, 10_000, () => random)
      expect(ms).toBeGreaterThanOrEqual(Math.floor(ceiling / 2))
      expect(ms).toBeLessThanOrEqual(ceiling)
    }),
  )
})

it('ends a sleep at once when it is aborted', async () => {
  const code = { code: 'ERR_INTERRUPTED' }
  await expect(sleep(2 ** 30, AbortSignal.abort())).rejects.toMatchObject(code)
  const controller = new AbortController()
  const sleeping = sleep(2 ** 30, controller.signal)
  controller.abort()
  await expect(sleeping).rejects.toMatchObject(code)
})
