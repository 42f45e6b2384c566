import { expect, it } from 'vitest'
import { ClockRate } from '../../../../src/media/write/ts/clock-rate.js'

/** A packet with nothing but a clock, in ticks of 90 kHz. */
function clock(ticks: number, isDiscontinuous = false): Buffer {
  const packet = Buffer.alloc(188, 0xff)
  packet.set([0x47, 0x01, 0x00, 0x20, 183, isDiscontinuous ? 0x90 : 0x10])
  packet.writeUInt32BE(ticks / 2, 6)
  packet.writeUInt16BE(0x7e00, 10)
  return packet
}

it.each([
  ['constant', [0, 9000, 18_000, 27_000], null, true],
  ['varying', [0, 9000, 22_000, 27_000], null, false],
  ['constant before and behind a jump of the clock', [0, 9000, 900_000, 909_000], 2, true],
  [
    'constant around a jump that no flag announces',
    [
      ...Array.from({ length: 20 }, (_, place) => 9000 * place),
      ...Array.from({ length: 20 }, (_, place) => 9000 * (200 + place)),
    ],
    null,
    true,
  ],
  [
    'constant in two parts, each at its own rate',
    [
      ...Array.from({ length: 30 }, (_, place) => 9000 * place),
      ...Array.from({ length: 30 }, (_, place) => 300_000 + 4500 * place),
    ],
    null,
    true,
  ],
  [
    'the same by chance, and varies elsewhere',
    Array.from({ length: 40 }, (_, place) => 9000 * place + 1000 * (place % 4)),
    null,
    false,
  ],
])('finds a rate that is %s', (_name, times, jump, isConstant) => {
  const rate = new ClockRate()
  for (const [place, ticks] of times.entries()) rate.take(256, clock(ticks, place === jump), 0, 100 * place)
  expect(rate.mayBeConstant).toBe(isConstant)
})
