import { describe, expect, it } from 'vitest'
import { readSamples } from '../../src/media/pcm/pcm-samples.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { paidSecOf } from '../../src/pipeline/output/receipt.js'
import { chunkForecast, chunkLengths, partCount } from '../../src/pipeline/plan/chunk-lengths.js'
import { planJob } from '../../src/pipeline/plan/plan-job.js'
import { planChunks } from '../../src/pipeline/voice/plan-chunks.js'
import { decodedPcm, fixture, jobBench } from '../helpers/job-bench.js'
import { ffmpeg } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
const RATE = 16_000

/** Speech of about eight seconds, not too loud to become louder. */
async function longSpeech(): Promise<string> {
  const path = bench.folder.file('talk.wav')
  const options = ['-vn', '-t', '8', '-ac', '1', '-ar', String(RATE), '-af', 'volume=-12dB', '-c:a', 'pcm_s24le']
  await ffmpeg('-i', fixture('interview.mp4'), ...options, path)
  return path
}

describe('a long file', () => {
  it('is sent in overlapping parts, and an answer that is what was sent gives back every sample', async () => {
    const input = await longSpeech()
    const { event, receipt } = await runJob(requestFor(input, { chunkSec: 3 }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    const voices = receipt?.voices ?? []
    expect(voices.length).toBeGreaterThan(2)
    expect(bench.server.charges).toBe(voices.length)
    expect(voices[0]?.startSample).toBe(0)
    expect(voices.at(-1)?.endSample).toBe(8 * RATE)
    for (const [index, voice] of voices.entries()) {
      expect(voice.endSample - voice.startSample).toBeLessThanOrEqual(3 * RATE)
      const next = voices[index + 1]
      if (next) expect(next.startSample).toBeLessThan(voice.endSample)
    }
    expect(receipt?.segments).toEqual([{ startSec: 0, endSec: 8 }])
    expect((await decodedPcm(bench.folder.file('talk.regen.wav'))).equals(await decodedPcm(input))).toBe(true)
  })

  it('is divided by itself where the service takes no more', async () => {
    const input = await longSpeech()
    const context = { ...bench.pipeline.context, limits: { maxDurationSec: 4 } }
    const plan = await planJob(requestFor(input), context.limits)
    expect(plan.verdicts.asSent).toEqual([])
    expect(plan.notes.join()).toMatch(/parts of at most 0:04/)
    const { receipt } = await runJob(requestFor(input), context)
    const lengths = receipt?.voices.map(({ startSample, endSample }) => (endSample - startSample) / RATE) ?? []
    expect(lengths.length).toBeGreaterThan(1)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(4)
    expect(receipt?.voices.reduce((sum, { paidSec }) => sum + paidSec, 0)).toBeLessThanOrEqual(plan.paidSec ?? 0)
  })

  it('has no step in gain where each part comes back at another level', async () => {
    const input = await longSpeech()
    const gainsDb = [0, -6, 4, -3, 5, -5]
    let made = 0
    bench.server.behaviour.regenerate = async (path, { fileId }) => {
      const answer = bench.folder.file(`${fileId}.flac`)
      await ffmpeg('-i', path, '-af', `volume=${gainsDb[made++ % gainsDb.length]}dB`, '-f', 'flac', answer)
      return answer
    }
    const { receipt } = await runJob(requestFor(input, { chunkSec: 3 }), bench.pipeline.context)
    const [before, after] = await Promise.all(
      [input, bench.folder.file('talk.regen.wav')].map(async (path) => readSamples(await decodedPcm(path), 's32')),
    )
    const gainDb = (from: number, to: number) => {
      const power = (values = new Float64Array() as Float64Array) =>
        values.subarray(from, to).reduce((sum, value) => sum + value * value, 0)
      return 10 * Math.log10(power(after) / power(before))
    }
    const steps = (receipt?.voices ?? []).slice(1).map(({ startSample }, index) => {
      const end = receipt?.voices[index]?.endSample ?? 0
      return Math.abs(gainDb(end, end + RATE / 2) - gainDb(startSample - RATE / 2, startSample))
    })
    expect(steps.length).toBeGreaterThan(1)
    expect(Math.max(...steps)).toBeLessThan(0.1)
  })

  it('pays only for the parts that failed when it is run again', async () => {
    const input = await longSpeech()
    let isBroken = true
    bench.server.behaviour.regenerate = (path, { clientFileId }) => {
      // Two parts in the middle.
      if (isBroken && /talk 0:0[24]\./.test(clientFileId)) throw new Error('made to fail')
      return path
    }
    const first = await runJob(requestFor(input, { chunkSec: 3 }), bench.pipeline.context)
    expect(first.event.status).toBe('failed')
    isBroken = false
    const again = await runJob(requestFor(input, { chunkSec: 3 }), bench.pipeline.context)
    expect(again.event.status).toBe('done')
    const succeeded = bench.server.files.filter(({ outputPath, charges }) => outputPath !== undefined && charges > 0)
    expect(succeeded.length).toBe(again.receipt?.voices.length)
    expect(bench.server.files.every(({ charges }) => charges <= 1)).toBe(true)
    expect((await decodedPcm(bench.folder.file('talk.regen.wav'))).equals(await decodedPcm(input))).toBe(true)
  })

  it('keeps a part as it was in which the service finds no voice, and says so', async () => {
    const input = await longSpeech()
    let first = true
    bench.server.behaviour.states = []
    bench.server.behaviour.regenerate = (path, { fileId }) => {
      const file = bench.server.files.find(({ id }) => id === fileId)
      if (first && file) file.failed = { status: 'Failed', errorCode: -3, progress: 0 }
      first = false
      return path
    }
    const { event, receipt } = await runJob(requestFor(input, { chunkSec: 3 }), bench.pipeline.context)
    expect(event.status).toBe('done')
    expect(receipt?.notes.join()).toContain('The service found no voice')
    const { committedSec } = await bench.pipeline.context.spending.spent()
    expect(receipt && paidSecOf(receipt)).toBeCloseTo(committedSec, 6)
    expect(receipt?.voicelessPaidSec).toBeGreaterThan(1)
    expect((await decodedPcm(bench.folder.file('talk.regen.wav'))).equals(await decodedPcm(input))).toBe(true)
  })
})

describe('the plan of parts', () => {
  const stream = { codec: 'pcm_s16le', sampleFormat: 's16', sampleRate: 48_000, bitsPerSample: 16 } as Parameters<
    typeof chunkLengths
  >[2]['stream']

  it('takes the shortest of what the person and the service say', () => {
    const voice = { stream, channels: 1 }
    expect(chunkLengths({ chunkSec: null }, {}, voice)).toBeNull()
    expect(chunkLengths({ chunkSec: 600 }, { maxDurationSec: 60 }, voice)?.mostSec).toBe(60)
    expect(chunkLengths({ chunkSec: 60 }, { maxDurationSec: 600 }, voice)?.mostSec).toBe(60)
    expect(chunkLengths({ chunkSec: null }, { maxSizeBytes: 96_000 * 30 }, voice)?.mostSec).toBe(30)
    // What a lossy codec decodes to is sent in 16 bits as well.
    const lossy = { stream: { ...stream, codec: 'aac', sampleFormat: 'flt', bitsPerSample: null }, channels: 1 }
    expect(chunkLengths({ chunkSec: null }, { maxSizeBytes: 96_000 * 30 }, lossy)?.mostSec).toBe(30)
  })

  it('keeps every part short enough, and lets each overlap the next round its join', () => {
    const lengths = { mostSec: 60, reachSec: 5, searchSec: 15 }
    const hops = 100 * 1000
    // Speech with a pause each 7 s, and none in the middle third.
    const powers = Array.from({ length: hops }, (_, hop) =>
      hop % 700 < 30 && Math.abs(hop / hops - 0.5) > 0.17 ? 1e-7 : 1e-2,
    )
    const voice = { sampleCount: hops * 80, sampleRate: 8000 }
    const { ranges, joins } = planChunks({ hopSamples: 80, powers }, voice, lengths)
    expect(ranges[0]?.startSample).toBe(0)
    expect(ranges.at(-1)?.endSample).toBe(voice.sampleCount)
    for (const [index, { startSample, endSample }] of ranges.entries()) {
      expect(endSample - startSample).toBeLessThanOrEqual(lengths.mostSec * voice.sampleRate)
      const join = joins[index]
      if (join === undefined) continue
      expect(join).toBeGreaterThan(ranges[index + 1]?.startSample ?? join)
      expect(join).toBeLessThan(endSample)
    }
    const inPause = joins.filter((join) => (powers[Math.round(join / 80)] ?? 1) < 1e-3)
    expect(inPause.length).toBeGreaterThan(joins.length / 2)
    expect(Math.abs(joins.length + 1 - partCount(1000, lengths))).toBeLessThanOrEqual(2)
  })

  it('is one part where it is short enough', () => {
    const lengths = { mostSec: 60, reachSec: 5, searchSec: 15 }
    expect(chunkForecast(59, lengths)).toEqual({ count: 1, mostCount: 1, longestSec: 59, sentSec: 59 })
    expect(chunkForecast(600, null)).toEqual({ count: 1, mostCount: 1, longestSec: 600, sentSec: 600 })
    expect(chunkForecast(600, lengths)).toMatchObject({ count: 18, longestSec: 60 })
  })

  it('never costs more than its forecast, wherever the pauses are', () => {
    const rate = 1000
    const voice = { sampleRate: rate, sampleCount: 0 }
    for (const mostSec of [3, 10.3, 60, 119.1, 411.4])
      for (let times = 1.05; times < 8; times += 0.21) {
        const lengths = { mostSec, reachSec: Math.min(5, 0.1 * mostSec), searchSec: Math.min(30, 0.25 * mostSec) }
        const sampleCount = Math.round(times * mostSec * rate)
        const { mostCount, sentSec } = chunkForecast(sampleCount / rate, lengths)
        // It only gets louder, so every pause is as early as it may be, and overlaps are as long as they may be.
        const powers = Array.from({ length: Math.ceil(sampleCount / 10) }, (_, hop) => 1e-9 * 1.001 ** hop)
        const { ranges } = planChunks({ hopSamples: 10, powers }, { ...voice, sampleCount }, lengths)
        const sent = ranges.reduce((sum, { startSample, endSample }) => sum + endSample - startSample, 0) / rate
        expect(ranges.length, `${mostSec} s, ${times} times`).toBeLessThanOrEqual(mostCount)
        expect(sent, `${mostSec} s, ${times} times`).toBeLessThanOrEqual(sentSec + 1e-6)
      }
  })
})
