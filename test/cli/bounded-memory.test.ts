import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { expect, it } from 'vitest'
import { collectorInside, collectorOutside } from '../../src/cli/bounded-memory.js'

const MB = 1024 ** 2
const outside = () => getHeapStatistics().external_memory

it('collects buffers that nobody needs once they take 24 MB, and not before', () => {
  // As in the command: memory is free when the collection ends.
  setFlagsFromString('--no-concurrent-array-buffer-sweeping')
  const collect = collectorOutside()
  collect()
  const before = outside()
  let held: Buffer[] = Array.from({ length: 16 }, () => Buffer.alloc(MB))
  expect(collect()).toBe(false)
  held.push(...Array.from({ length: 16 }, () => Buffer.alloc(MB)))
  expect(collect()).toBe(true)
  // They are still needed, and do not count again.
  expect(collect()).toBe(false)
  expect(outside() - before).toBeGreaterThan(30 * MB)

  held = Array.from({ length: 32 }, () => Buffer.alloc(MB))
  expect(collect()).toBe(true)
  expect(held).toHaveLength(32)
  expect(outside() - before).toBeLessThan(48 * MB)
})

it('collects only what is young if that is enough, because to collect everything takes long', () => {
  setFlagsFromString('--no-concurrent-array-buffer-sweeping')
  let old: Buffer | undefined
  const collect = collectorOutside()
  // Two collections make it old.
  for (let times = 0; times < 2; times++) {
    old ??= Buffer.alloc(26 * MB)
    for (let made = 0; made < 26; made++) Buffer.alloc(MB)
    collect()
  }
  expect(old).toHaveLength(26 * MB)
  old = undefined
  const before = outside()
  for (let made = 0; made < 26; made++) Buffer.alloc(MB)
  expect(outside() - before).toBeGreaterThan(24 * MB)
  expect(collect()).toBe(true)
  expect(Math.abs(outside() - before)).toBeLessThan(2 * MB)
})

it('collects values that nobody needs once they take 48 MB, and not before', () => {
  const used = () => getHeapStatistics().used_heap_size
  const megabytes = (count: number) => Array.from({ length: count }, () => new Array<number>(MB / 8).fill(0.5))
  const collect = collectorInside()
  const held = megabytes(40)
  expect(collect()).toBe(false)
  held.push(...megabytes(20))
  expect(collect()).toBe(true)
  // They are still needed, and do not count again.
  expect(collect()).toBe(false)

  const before = used()
  held.splice(0, 60, ...megabytes(60))
  expect(collect()).toBe(true)
  expect(held).toHaveLength(60)
  expect(used() - before).toBeLessThan(30 * MB)
})
