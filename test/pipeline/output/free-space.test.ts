import { expect, it } from 'vitest'
import { requireLargeFile, spaceNeeded } from '../../../src/pipeline/output/free-space.js'

it('never says that as much space is free as is needed', () => {
  expect(spaceNeeded(39.9e6, 39.2e6)).toBe('40 MB needed, 39 MB free')
  expect(spaceNeeded(40e6, 0.4e6)).toBe('40 MB needed, 0 MB free')
})

it('refuses a file that FAT cannot hold', () => {
  const [fat, ext4] = [0x4d44, 0xef53]
  const check = (sizeBytes: number, type: number) => () => requireLargeFile('/usb/film.mov', sizeBytes, { type })
  expect(check(2 ** 32, fat)).toThrow(expect.objectContaining({ code: 'ERR_OUTPUT_TOO_LARGE', exitCode: 2 }))
  expect(check(2 ** 32 - 1, fat)).not.toThrow()
  expect(check(2 ** 32, ext4)).not.toThrow()
})
