import { describe, expect, it } from 'vitest'
import { DEFAULT_RECIPE } from '../../src/config/preset-schema.js'
import { probe, splice } from '../../src/media/index.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { planTracks } from '../../src/pipeline/plan/plan-tracks.js'
import { rangesInCut } from '../../src/pipeline/plan/segments.js'
import { planChunks } from '../../src/pipeline/voice/plan-chunks.js'
import { decodedPcm, fixture, jobBench } from '../helpers/job-bench.js'
import fc from '../helpers/properties.js'
import { collectPcm, pcmFromBuffer } from '../helpers/sound/pcm-buffers.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
/** Of the fixture: 3 s at 48 kHz. */
const TRACK_END = 144_000

const segment = fc
  .tuple(fc.double({ min: 0, max: 2.99, noNaN: true }), fc.double({ min: 0.01, max: 2, noNaN: true }))
  .map(([startSec, lengthSec]) => ({ startSec, endSec: startSec + lengthSec }))
const cutting = fc.record({
  segments: fc.array(segment, { maxLength: 6 }),
  handleSec: fc.double({ min: 0, max: 2, noNaN: true }),
  crossfadeSec: fc.double({ min: 0, max: 0.5, noNaN: true }),
  previewSec: fc.option(fc.double({ min: 0.01, max: 4, noNaN: true })),
})

async function planned() {
  const media = await probe(fixture('speech.wav'))
  return ({
    segments,
    handleSec,
    crossfadeSec,
    previewSec,
  }: typeof cutting extends fc.Arbitrary<infer T> ? T : never) => {
    const recipe = { ...DEFAULT_RECIPE, segments: { handleSec, crossfadeSec } }
    const [track] = planTracks(media, { ...requestFor('/x.wav').settings, recipe, segments, previewSec }, {})
    const pieces = (track?.pieces ?? []).map(({ ranges, cut }) => ({
      ranges: rangesInCut(ranges, { startSample: 0, endSample: TRACK_END }),
      cut: { startSample: cut.startSample, endSample: cut.endSample ?? TRACK_END },
    }))
    return { pieces, crossfadeSamples: Math.round(crossfadeSec * 48_000) }
  }
}

describe('the pieces of a track', () => {
  it('add up to the samples asked for, each inside its cut, the handles no longer than they may be', async () => {
    const plan = await planned()
    fc.assert(
      fc.property(cutting, (wish) => {
        const { pieces } = plan(wish)
        const { segments, previewSec, handleSec } = wish
        const wanted = new Uint8Array(TRACK_END)
        if (segments.length === 0) wanted.fill(1)
        for (const { startSec, endSec } of segments) {
          wanted.fill(1, Math.round(startSec * 48_000), endSec >= 3 ? TRACK_END : Math.round(endSec * 48_000))
        }
        const all = wanted.reduce((sum, one) => sum + one, 0)
        const most = previewSec === null ? all : Math.min(all, Math.round(previewSec * 48_000))
        const ranges = pieces.flatMap((piece) => piece.ranges)
        expect(ranges.reduce((sum, range) => sum + range.endSample - range.startSample, 0)).toBe(most)
        const handle = Math.round(handleSec * 48_000)
        for (const { ranges, cut } of pieces) {
          expect(cut.startSample).toBe(Math.max(0, (ranges[0]?.startSample ?? 0) - handle))
          expect(cut.endSample).toBe(Math.min(TRACK_END, (ranges.at(-1)?.endSample ?? 0) + handle))
        }
        for (const [index, { cut }] of pieces.slice(1).entries()) {
          expect(cut.startSample).toBeGreaterThan(pieces[index]?.cut.endSample ?? 0)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('laid back as they were cut give every sample as it was', async () => {
    const plan = await planned()
    const bytes = await decodedPcm(fixture('speech.wav'))
    const format = { sampleRate: 48_000, channels: 1, channelLayout: 'mono', sample: 's32' } as const
    await fc.assert(
      fc.asyncProperty(cutting, async (wish) => {
        const { pieces, crossfadeSamples } = plan(wish)
        const spliced = splice({
          original: pcmFromBuffer(format, bytes),
          pieces: pieces.map(({ ranges, cut }) => ({
            ...{ ranges, crossfadeSamples, channels: { kind: 'all' } as const },
            handleSamples: (ranges[0]?.startSample ?? 0) - cut.startSample,
            voice: pcmFromBuffer(format, bytes.subarray(cut.startSample * 4, cut.endSample * 4)),
          })),
        })
        expect((await collectPcm(spliced)).equals(bytes)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('come back through a service that changes nothing as they went, several and in parts', async () => {
    const input = await bench.take('speech.wav')
    const segments = [
      { startSec: 0.2, endSec: 1.1 },
      { startSec: 1.3, endSec: null },
    ]
    const { event, receipt } = await runJob(requestFor(input, { segments, chunkSec: 1.5 }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(receipt?.segments).toEqual([
      { startSec: 0.2, endSec: 1.1 },
      { startSec: 1.3, endSec: 3 },
    ])
    expect(receipt?.voices.length).toBeGreaterThan(2)
    expect((await decodedPcm(bench.folder.file('speech.regen.wav'))).equals(await decodedPcm(input))).toBe(true)
  })
})

describe('the parts of a long piece', () => {
  it('cover it whole, in order, each overlapping only its neighbours', () => {
    const hop = 80
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 600, maxLength: 3000 }),
        fc.double({ min: 2, max: 20, noNaN: true }),
        (powers, mostSec) => {
          const lengths = { mostSec, reachSec: mostSec / 10, searchSec: mostSec / 4 }
          const sampleCount = powers.length * hop
          const { ranges, joins } = planChunks({ hopSamples: hop, powers }, { sampleCount, sampleRate: 8000 }, lengths)
          expect(ranges.length).toBe(joins.length + 1)
          const inner = [0, ...joins, sampleCount]
          expect(inner).toEqual([...inner].sort((one, other) => one - other))
          for (const [index, { startSample, endSample }] of ranges.entries()) {
            expect(startSample).toBeLessThanOrEqual(inner[index] as number)
            expect(endSample).toBeGreaterThanOrEqual(inner[index + 1] as number)
            expect(endSample - startSample).toBeLessThanOrEqual(mostSec * 8000)
            expect(startSample).toBeGreaterThanOrEqual(ranges[index - 2]?.endSample ?? 0)
          }
        },
      ),
      { numRuns: 50 },
    )
  })
})
