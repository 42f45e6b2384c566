import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { summary } from '../../src/cli/output/summary.js'
import { showPlans } from '../../src/cli/show/dry-run.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { noisyRanges, rangesWithin } from '../../src/pipeline/plan/ranges-to-send.js'
import { fixture, jobBench } from '../helpers/job-bench.js'
import { ffmpeg } from '../helpers/media-factory.js'
import { makeWav } from '../helpers/sound/engine-fixtures.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
const RATE = 48_000

/** Speech of which the first seconds are in noise. */
function speech(seconds: number, noisySec: number): string {
  const { clean, noisy } = noisySpeech(seconds * RATE, { noiseGain: 0.1, seed: 9 })
  const path = bench.folder.file('speech.wav')
  makeWav(
    path,
    // Below full scale: clipped speech is not clean.
    clean.map((value, i) => 0.5 * (i < noisySec * RATE ? (noisy[i] ?? 0) : value)),
  )
  return path
}

describe('--only-noisy', () => {
  it('sends only the part with noise, and keeps every other sample', async () => {
    const input = speech(11, 3)
    bench.answerWith('-af', 'volume=0.5')
    const request = requestFor(input, { recipe: { onlyNoisy: true } })
    const { event, receipt } = await runJob(request, bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(receipt?.segments).toHaveLength(1)
    const { startSec, endSec = 0 } = receipt?.segments[0] ?? {}
    expect(startSec).toBe(0)
    expect(endSec).toBeGreaterThanOrEqual(3)
    expect(endSec).toBeLessThan(8)
    const paidSec = receipt?.voices.reduce((sum, voice) => sum + voice.paidSec, 0)
    expect(paidSec).toBeCloseTo(endSec + 1, 1)
    const [before, after] = await Promise.all([readFile(input), readFile(event.output ?? '')])
    const from = 44 + 2 * Math.round(endSec * RATE)
    expect(after.subarray(from).equals(before.subarray(from))).toBe(true)
    expect(after.subarray(44, from).equals(before.subarray(44, from))).toBe(false)
  })
})

describe('a file of which nothing needs to be sent', () => {
  it('is copied with --skip-clean if its voice is clean', async () => {
    const input = speech(4, 0)
    const outcome = await runJob(requestFor(input, { recipe: { skipClean: true } }), bench.pipeline.context)
    expect(outcome.event).toMatchObject({ status: 'done', error: null })
    expect(bench.server.calls.registerFile ?? 0).toBe(0)
    expect(await readFile(outcome.event.output ?? '')).toEqual(await readFile(input))
    expect(outcome.receipt).toMatchObject({
      ...{ voices: [], segments: [], publish: expect.any(String) },
      notes: ['No noise was found in the voice, so nothing was sent and the output is a copy of the input.'],
    })
    expect(outcome.receipt?.output.sha256).toBe(outcome.receipt?.input.sha256)
    expect(summary([outcome])).toContain('left as it was, and nothing of it was sent')
    const again = await runJob(requestFor(input, { recipe: { skipClean: true } }), bench.pipeline.context)
    expect(again.event).toMatchObject({ status: 'skipped', output: outcome.event.output })
  })

  it('is sent whole with --skip-clean if a part of it is noisy', async () => {
    const input = speech(5, 3)
    const { receipt } = await runJob(requestFor(input, { recipe: { skipClean: true } }), bench.pipeline.context)
    expect(receipt?.segments).toEqual([{ startSec: 0, endSec: 5 }])
  })

  it.each(process.env.VOXMUX_SOAK ? ['interview.mp4', 'two-tracks.mkv'] : ['two-tracks.mkv'])(
    'is a copy of %s with --mix 0, at no cost',
    async (name) => {
      const input = await bench.take(name)
      const request = requestFor(input, { recipe: { mix: 0, track: 'all' } })
      const { event, receipt } = await runJob(request, bench.pipeline.context)
      expect(event).toMatchObject({ status: 'done', error: null })
      expect(bench.server.calls.registerFile ?? 0).toBe(0)
      expect((await readFile(event.output ?? '')).equals(await readFile(input))).toBe(true)
      expect(receipt?.notes.join()).toContain('The mix is 0')
    },
  )

  it('is still written in another container, and nothing is sent', async () => {
    const request = requestFor(fixture('phone.mp4'), { output: bench.folder.file('out.mkv'), recipe: { mix: 0 } })
    const { event, receipt } = await runJob(request, bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(bench.server.calls.registerFile ?? 0).toBe(0)
    expect(receipt?.output.container).toBe('mkv')
  })

  it('says so in a dry run', async () => {
    const lines: string[] = []
    const output = { print: (text: string) => lines.push(text), event: () => {}, note: () => {}, result: () => {} }
    const context = { cwd: bench.folder.path, output, signal: new AbortController().signal }
    const request = requestFor(fixture('speech.wav'), { output: bench.folder.file('x.wav'), recipe: { mix: 0 } })
    const film = requestFor(fixture('phone.mp4'), {
      output: bench.folder.file('x.mp4'),
      recipe: { mix: 0, addTrack: true },
    })
    expect(await showPlans([request, film], {}, context as never)).toBe(0)
    expect(lines.join()).toMatch(/to pay for\s+0:00/)
    expect(lines.join().match(/The mix is 0/g)).toHaveLength(2)
    // No track is added to a copy.
    expect(lines.join()).not.toContain('Clear dialogue')
  })
})

it('two tracks: the clean one is copied, the noisy one is sent', async () => {
  const noisy = speech(4, 4)
  const { clean } = noisySpeech(4 * RATE, { noiseGain: 0, seed: 4 })
  makeWav(
    bench.folder.file('clean.wav'),
    clean.map((value) => 0.5 * value),
  )
  const input = bench.folder.file('both.mka')
  const sources = ['-i', bench.folder.file('clean.wav'), '-i', noisy]
  await ffmpeg(...sources, '-map', '0:a', '-map', '1:a', '-c:a', 'flac', input)
  const request = requestFor(input, { recipe: { onlyNoisy: true, track: 'all' } })
  const { receipt } = await runJob(request, bench.pipeline.context)
  expect(receipt?.voices.map(({ audioIndex }) => audioIndex)).toEqual([1])
  expect(receipt?.streams.map(({ fate }) => fate)).toEqual(['copied', 'replaced'])
})

describe('the parts to send', () => {
  const map = (text: string, voiced = text) => ({
    voicedSec: 1,
    noise: [...text].map((each) => (each === 'n' ? 1 : 0)),
    music: [],
    voice: [...voiced].map((each) => (each === '.' ? 0 : 1)),
  })

  it.each([
    ['nothing of a clean file', map('......', 'vvvvvv'), []],
    ['noise around a voice', map('..nn..', '..v...'), [{ startSec: 2, endSec: 4 }]],
    ['no noise in which nobody speaks', map('..nn..', 'vv..vv'), []],
    ['noise to the end as an open part', map('....nn'), [{ startSec: 4, endSec: null }]],
    ['parts at most a gap apart as one', map('n...n...', 'v.......'), [{ startSec: 0, endSec: 5 }]],
    [
      'parts further apart as two',
      map('n....n..'),
      [
        { startSec: 0, endSec: 1 },
        { startSec: 5, endSec: 6 },
      ],
    ],
  ])('are %s', (_, found, ranges) => {
    expect(noisyRanges(found, 3)).toEqual(ranges)
  })

  it('lie within the wanted segments', () => {
    const wanted = [
      { startSample: 0, endSample: 100 },
      { startSample: 300, endSample: null },
    ]
    const times = [
      { startSec: 5, endSec: 15 },
      { startSec: 20, endSec: 40 },
      { startSec: 50, endSec: null },
    ]
    expect(rangesWithin(wanted, times, 10)).toEqual([
      { startSample: 50, endSample: 100 },
      { startSample: 300, endSample: 400 },
      { startSample: 500, endSample: null },
    ])
  })
})
