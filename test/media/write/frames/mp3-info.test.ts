import { expect, it } from 'vitest'
import { splicedInfo } from '../../../../src/media/write/frames/mp3-info.js'

/** Frames of 100 bytes, then twice as long from the middle on. */
const LENGTHS = Array.from({ length: 200 }, (_, frame) => (frame < 100 ? 100 : 200))
const offsetOf = (frame: number) => LENGTHS.slice(0, frame).reduce((sum, length) => sum + length, 0)
const packets = {
  ...{ count: LENGTHS.length, offsetOf, length: (frame: number) => LENGTHS[frame] ?? 0 },
  ...{ firstAt: (frame: number) => frame, timeOf: (packet: number) => ({ packet, behindSamples: 0 }) },
  surplusSamples: 0,
}

it('states the size and the places for seeking of other packets', () => {
  const frame = Buffer.alloc(300)
  const at = 36
  frame.write('Xing', at, 'latin1')
  frame.writeUInt32BE(0b111, at + 4)
  frame.writeUInt32BE(200, at + 8)
  const made = splicedInfo(frame, packets)
  const sizeBytes = 300 + 30_000
  expect([made.readUInt32BE(at + 8), made.readUInt32BE(at + 12)]).toEqual([200, sizeBytes])
  const place = (percent: number) => made[at + 16 + percent]
  const expected = (bytes: number) => Math.floor((256 * (300 + bytes)) / sizeBytes)
  expect([0, 25, 50, 75, 99].map(place)).toEqual([0, ...[5000, 10_000, 20_000, 29_600].map(expected)])
})
