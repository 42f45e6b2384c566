import { describe, expect, it } from 'vitest'
import type { SampleType } from '../../../src/media/pcm/pcm.js'
import { readSamples, writeSamples } from '../../../src/media/pcm/pcm-samples.js'
import fc from '../../helpers/properties.js'

describe('sample conversion', () => {
  it('reads and writes every value of every type without changing a bit', () => {
    const bytes = fc
      .uint8Array({ minLength: 8, maxLength: 64 })
      .map((data) => Buffer.from(data.subarray(0, data.length & ~7)))
    for (const sample of ['s16', 's32'] satisfies SampleType[]) {
      fc.assert(fc.property(bytes, (data) => writeSamples(readSamples(data, sample), sample).equals(data)))
    }
    const floats = fc.array(fc.float({ noNaN: true })).map((values) => Buffer.from(Float32Array.from(values).buffer))
    fc.assert(fc.property(floats, (data) => writeSamples(readSamples(data, 'f32'), 'f32').equals(data)))
  })

  it('reads a buffer that lies askew in memory', () => {
    const askew = Buffer.from([9, 1, 0, 2, 0]).subarray(1)
    expect([...readSamples(askew, 's16')]).toEqual([1 / 32_768, 2 / 32_768])
  })

  it('rounds half to even and clips at full scale', () => {
    const steps = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49, 32_767.4, 40_000, -40_000].map((value) => value / 32_768)
    const written = readSamples(writeSamples(Float64Array.from(steps), 's16'), 's16').map((value) => value * 32_768)
    expect([...written].map((value) => value + 0)).toEqual([0, 2, 2, 0, -2, 0, 32_767, 32_767, -32_768])
  })
})
