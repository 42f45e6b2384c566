import { expect, it } from 'vitest'
import { readByteRange } from '../../src/core/byte-range.js'

it.each([
  [undefined, null],
  ['bytes=0-', { firstByte: 0, lastByte: 99 }],
  ['bytes=10-19', { firstByte: 10, lastByte: 19 }],
  ['bytes=90-500', { firstByte: 90, lastByte: 99 }],
  ['bytes=-10', { firstByte: 90, lastByte: 99 }],
  ['bytes=-500', { firstByte: 0, lastByte: 99 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=20-10', null],
  ['bytes=0-1,5-6', null],
  ['bytes=-', null],
  ['pages=1-2', null],
])('%s of 100 bytes', (header, range) => {
  expect(readByteRange(header, 100)).toEqual(range)
})
