import { expect, it } from 'vitest'
import { SyncReference, syncReach } from '../../../../src/media/write/remux/sync-reference.js'

const RATE = 8000

it('never listens for broken floats: no place of a receipt is no number', () => {
  const samples = Float32Array.from({ length: 9 * RATE }, (_, at) => 0.3 * Math.sin(at * at * 1e-5))
  // The loudest second of the middle has some.
  samples.subarray(4 * RATE, 5 * RATE).forEach((value, at, second) => {
    second[at] = 2 * value
  })
  samples.fill(Number.NaN, 4 * RATE + 101, 4 * RATE + 103)
  samples.fill(Number.POSITIVE_INFINITY, 8 * RATE + 5, 8 * RATE + 7)
  const reference = new SyncReference(
    { sampleRate: RATE, channels: 1, channelLayout: 'mono', sample: 'f32' },
    samples.length,
  )
  reference.push(Buffer.from(samples.buffer))
  reference.end()
  expect(reference.samples.map(({ at }) => at)).toEqual(['start', 'middle', 'end'])
  for (const { atSample, values } of reference.samples) {
    expect(atSample).not.toBe(4 * RATE)
    expect(values).toHaveLength(RATE + 2 * syncReach(RATE))
    expect(values.every(Number.isFinite)).toBe(true)
  }
})
