import { describe, expect, it } from 'vitest'
import { type SplicePiece, splice } from '../../../src/media/align/splice.js'
import { frameBytes, type PcmFormat, type PcmStream, type SampleType } from '../../../src/media/pcm/pcm.js'
import { readSamples } from '../../../src/media/pcm/pcm-samples.js'
import { slicePcm } from '../../../src/media/pcm/pcm-streams.js'
import type { SampleRange } from '../../../src/media/voice-cut.js'
import fc from '../../helpers/properties.js'
import { collectPcm, pcmFromBuffer } from '../../helpers/sound/pcm-buffers.js'

const SAMPLES: readonly SampleType[] = ['s16', 's32', 'f32', 'f64']
const LENGTH = 600

const format = (sample: SampleType, channels = 2): PcmFormat => ({
  sampleRate: 48_000,
  channels,
  channelLayout: channels === 2 ? 'stereo' : `${channels} channels`,
  sample,
})

/** Any bytes for integers; finite values for floats, where a NaN would not even equal itself. */
function noise(sample: SampleType, channels: number, seed: number, length = LENGTH): Buffer {
  let state = seed + 1
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const count = length * channels
  switch (sample) {
    case 's16':
      return Buffer.from(Int16Array.from({ length: count }, () => next() * 65_536 - 32_768).buffer)
    case 's32':
      return Buffer.from(Int32Array.from({ length: count }, () => next() * 2 ** 32 - 2 ** 31).buffer)
    case 'f32':
      return Buffer.from(Float32Array.from({ length: count }, () => next() * 3 - 1.5).buffer)
    case 'f64':
      return Buffer.from(Float64Array.from({ length: count }, () => next() * 3 - 1.5).buffer)
    default:
      return sample satisfies never
  }
}

/** Disjoint ranges inside the file, in order. */
const ranges = fc
  .uniqueArray(fc.integer({ min: 0, max: LENGTH }), { minLength: 2, maxLength: 8 })
  .map((edges) => edges.sort((one, other) => one - other))
  .map((edges) =>
    Array.from({ length: Math.floor(edges.length / 2) }, (_, index) => ({
      startSample: edges[2 * index] as number,
      endSample: edges[2 * index + 1] as number,
    })),
  )

const layout = fc.record({
  sample: fc.constantFrom(...SAMPLES),
  ranges,
  handle: fc.integer({ min: 0, max: 80 }),
  crossfade: fc.integer({ min: 0, max: 200 }),
  chunk: fc.integer({ min: 1, max: 700 }),
  seed: fc.nat(1000),
})

function piecesOf(
  source: PcmStream,
  { ranges, handle, crossfade }: { ranges: SampleRange[]; handle: number; crossfade: number },
) {
  return ranges.map((range): SplicePiece => {
    const before = Math.min(handle, range.startSample)
    const start = range.startSample - before
    return {
      ranges: [range],
      channels: { kind: 'all' },
      voice: slicePcm(source, start, range.endSample + handle - start),
      handleSamples: before,
      crossfadeSamples: crossfade,
    }
  })
}

describe('splice', () => {
  it('gives identical samples for identical pieces, in every sample type and layout', async () => {
    await fc.assert(
      fc.asyncProperty(layout, async (given) => {
        const bytes = noise(given.sample, 2, given.seed)
        const original = pcmFromBuffer(format(given.sample), bytes, given.chunk)
        const result = splice({ original, pieces: piecesOf(original, given) })
        expect((await collectPcm(result)).equals(bytes)).toBe(true)
      }),
    )
  })

  it('keeps every byte outside the segments, whatever lies inside', async () => {
    await fc.assert(
      fc.asyncProperty(layout, async (given) => {
        const bytes = noise(given.sample, 2, given.seed)
        const original = pcmFromBuffer(format(given.sample), bytes, given.chunk)
        const other = pcmFromBuffer(format(given.sample), noise(given.sample, 2, given.seed + 7))
        const result = await collectPcm(splice({ original, pieces: piecesOf(other, given) }))
        expect(result.length).toBe(bytes.length)
        const frame = frameBytes(format(given.sample))
        let from = 0
        for (const { startSample, endSample } of [...given.ranges, { startSample: LENGTH, endSample: LENGTH }]) {
          expect(result.subarray(from * frame, startSample * frame)).toEqual(
            bytes.subarray(from * frame, startSample * frame),
          )
          from = endSample
        }
      }),
    )
  })

  it('takes several ranges of one voice as it takes a voice for each', async () => {
    await fc.assert(
      fc.asyncProperty(layout, async (given) => {
        const original = pcmFromBuffer(format(given.sample), noise(given.sample, 2, given.seed), given.chunk)
        const other = pcmFromBuffer(format(given.sample), noise(given.sample, 2, given.seed + 7))
        const pieces = piecesOf(other, given)
        const [first, ...more] = pieces
        const start = given.ranges[0]?.startSample ?? 0
        const voice = slicePcm(other, start - (first?.handleSamples ?? 0), LENGTH)
        const joined = first && { ...first, voice, ranges: given.ranges }
        const result = splice({ original, pieces: joined && more.length > 0 ? [joined] : pieces })
        expect((await collectPcm(result)).equals(await collectPcm(splice({ original, pieces })))).toBe(true)
      }),
    )
  })

  it('copies the voice bit for bit between the fades, and fades at equal gain within them', async () => {
    const flat = (value: number) => Buffer.from(Float64Array.from({ length: LENGTH }, () => value).buffer)
    const mono = format('f64', 1)
    const result = splice({
      original: pcmFromBuffer(mono, flat(0), 100),
      pieces: [
        {
          ranges: [{ startSample: 200, endSample: 400 }],
          channels: { kind: 'all' },
          voice: pcmFromBuffer(mono, flat(1)),
          handleSamples: 50,
          crossfadeSamples: 20,
        },
      ],
    })
    const samples = readSamples(await collectPcm(result), 'f64')
    expect(samples[199]).toBe(0)
    expect(samples[200]).toBeGreaterThan(0)
    expect(samples[219]).toBeLessThan(1)
    expect([...samples.subarray(220, 380)].every((value) => value === 1)).toBe(true)
    for (let index = 0; index < 20; index++) {
      expect(samples[200 + index]).toBeCloseTo(samples[399 - index] as number, 12)
    }
    expect(samples[400]).toBe(0)
  })

  it('lays in a share of the voice, fades included, even if it replaces everything', async () => {
    const mono = format('f64', 1)
    const flat = (value: number) => pcmFromBuffer(mono, Buffer.from(new Float64Array(400).fill(value).buffer))
    const piece = { channels: { kind: 'all' as const }, handleSamples: 0, crossfadeSamples: 20 }
    const shared = async (share: number, startSample: number) => {
      const range = { startSample, endSample: 400 }
      const pieces = [{ ...piece, ranges: [range], voice: flat(1), share }]
      return readSamples(await collectPcm(splice({ original: flat(0.5), pieces })), 'f64')
    }
    expect([...(await shared(0.4, 0))].every((value) => Math.abs(value - 0.7) < 1e-12)).toBe(true)
    expect([...(await shared(0, 0))].every((value) => value === 0.5)).toBe(true)
    const faded = await shared(0.4, 100)
    expect(faded[99]).toBe(0.5)
    expect(Math.max(...faded.subarray(100, 120))).toBeLessThanOrEqual(0.7)
    expect(faded[200]).toBeCloseTo(0.7, 12)
  })

  it('replaces one channel and leaves the others bit-identical', async () => {
    const bytes = noise('s16', 6, 3)
    const voice = noise('s16', 1, 4)
    const result = await collectPcm(
      splice({
        original: pcmFromBuffer(format('s16', 6), bytes, 77),
        pieces: [
          {
            ranges: [{ startSample: 0, endSample: LENGTH }],
            channels: { kind: 'one', channel: 2 },
            voice: pcmFromBuffer(format('s16', 1), voice),
            handleSamples: 0,
            crossfadeSamples: 48,
          },
        ],
      }),
    )
    for (let index = 0; index < LENGTH; index++) {
      for (let channel = 0; channel < 6; channel++) {
        const at = (index * 6 + channel) * 2
        const expected = channel === 2 ? voice.readInt16LE(index * 2) : bytes.readInt16LE(at)
        expect(result.readInt16LE(at)).toBe(expected)
      }
    }
  })

  it('takes pieces for different channels over the same range, and refuses an overlap on one channel', () => {
    const original = pcmFromBuffer(format('s16', 2), noise('s16', 2, 1))
    const piece = (channel: number): SplicePiece => ({
      ranges: [{ startSample: 10, endSample: 100 }],
      channels: { kind: 'one', channel },
      voice: pcmFromBuffer(format('s16', 1), noise('s16', 1, 1)),
      handleSamples: 0,
      crossfadeSamples: 0,
    })
    expect(() => splice({ original, pieces: [piece(0), piece(1)] })).not.toThrow()
    expect(() => splice({ original, pieces: [piece(0), piece(0)] })).toThrow(RangeError)
  })

  it('gives a voice that replaces everything on as it is, in its own narrower type', async () => {
    const voice = pcmFromBuffer(format('s16'), noise('s16', 2, 1))
    const result = splice({
      original: pcmFromBuffer(format('f32'), noise('f32', 2, 2)),
      pieces: [
        {
          ranges: [{ startSample: 0, endSample: LENGTH }],
          channels: { kind: 'all' },
          voice,
          handleSamples: 0,
          crossfadeSamples: 10,
        },
      ],
    })
    expect(result.format.sample).toBe('s16')
    expect((await collectPcm(result)).equals(await collectPcm(voice))).toBe(true)
  })

  it('fails where a voice ends inside its range', async () => {
    const original = pcmFromBuffer(format('s16', 1), noise('s16', 1, 1))
    const short = splice({
      original,
      pieces: [
        {
          ranges: [{ startSample: 0, endSample: LENGTH }],
          channels: { kind: 'all' },
          voice: pcmFromBuffer(format('s16', 1), noise('s16', 1, 1, LENGTH - 1)),
          handleSamples: 0,
          crossfadeSamples: 0,
        },
      ],
    })
    await expect(collectPcm(short)).rejects.toMatchObject({ code: 'ERR_VOICE_TOO_SHORT' })
  })
})
