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

it.each([
  [0.15, 1e-3, [true, false, false]],
  [0.15, 0.1, [true, true, true]],
  [3, 1e-3, [true, true, true]],
  [9, 1e-3, [true, true, true]],
])('of %s s with a tail at %s of its level has blocks that are heard: %s', (sec, level, heard) => {
  const rate = 48_000
  const samples = Float32Array.from({ length: sec * rate }, (_, at) => 0.5 * Math.sin(at * 0.02))
  for (let at = Math.round(samples.length / 3); at < samples.length; at++) samples[at] = (samples[at] as number) * level
  const format = { sampleRate: rate, channels: 1, channelLayout: 'mono', sample: 'f32' } as const
  const reference = new SyncReference(format, samples.length)
  reference.push(Buffer.from(samples.buffer))
  reference.end()
  expect(reference.samples.map(({ values }) => values.length > 0)).toEqual(heard)
})

it('does not hear a block in which a track ends after a few samples, before the silence of a section', () => {
  const rate = 32_000
  const samples = new Float32Array(13 * rate)
  const end = 9 * rate + 192
  for (let at = 0; at < end; at++) samples[at] = 0.3 * Math.sin(at * at * 1e-5)
  const format = { sampleRate: rate, channels: 1, channelLayout: 'mono', sample: 'f32' } as const
  const reference = new SyncReference(format, samples.length)
  reference.push(Buffer.from(samples.buffer))
  reference.end()
  expect(reference.samples.map(({ values }) => values.length > 0)).toEqual([true, true, false])
})

it.each([
  { rate: 48_000, hertz: 1500 },
  { rate: 8000, hertz: 2000 },
])('hears a tone of $hertz Hz at $rate samples a second, which is the same at every few samples', ({ rate, hertz }) => {
  const samples = Float32Array.from(
    { length: 9 * rate },
    (_, at) => 0.5 * Math.sin((2 * Math.PI * hertz * at) / rate + 1),
  )
  const format = { sampleRate: rate, channels: 1, channelLayout: 'mono', sample: 'f32' } as const
  const reference = new SyncReference(format, samples.length)
  reference.push(Buffer.from(samples.buffer))
  reference.end()
  expect(reference.samples.map(({ values }) => values.length > 0)).toEqual([true, true, true])
})
