import { expect, it } from 'vitest'
import { DEFAULT_RECIPE } from '../../../src/config/preset-schema.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { planJob } from '../../../src/pipeline/plan/plan-job.js'
import { joinMeeting } from '../../../src/pipeline/plan/segments.js'
import { decodedPcm, fixture, jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

const part = (startSec: number, endSec: number | null) => ({ startSec, endSec })

it.each([
  ['near parts', [part(0.2, 0.4), part(0.5, 0.7)], 1.7],
  ['parts whose handles both reach the end', [part(1.5, 2.2), part(2.4, 2.6)], 2.5],
  ['parts up to the end', [part(1.5, 2.2), part(2.4, null)], 2.5],
  ['a single part', [part(1.5, 1.9)], 2.4],
])('sends the sound between %s once', async (_, segments, sec) => {
  const { paidSec } = await planJob(requestFor(fixture('speech.wav'), { segments }), {})
  expect(paidSec).toBeCloseTo(sec, 3)
})

it('regenerates near parts from one voice, and leaves the sound between them as it was', async () => {
  const input = await bench.take('speech.wav')
  const segments = [part(0.5, 1), part(1.2, 2)]
  bench.answerWith('-af', 'volume=0.5')
  const { event, receipt } = await runJob(requestFor(input, { segments }), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', error: null })
  expect(receipt?.segments).toEqual(segments)
  expect(receipt?.voices.map(({ startSample, endSample, paidSec }) => [startSample, endSample, paidSec])).toEqual([
    [0, 3 * 48_000, 3],
  ])
  expect(receipt?.voices[0]?.changedSec).toBeLessThanOrEqual(1.3)
  const [before, after] = [await decodedPcm(input), await decodedPcm(bench.folder.file('speech.regen.wav'))]
  const frame = before.length / (3 * 48_000)
  const isSame = (fromSec: number, toSec: number) =>
    before
      .subarray(fromSec * 48_000 * frame, toSec * 48_000 * frame)
      .equals(after.subarray(fromSec * 48_000 * frame, toSec * 48_000 * frame))
  expect([isSame(0, 0.5), isSame(1, 1.2), isSame(2, 3)]).toEqual([true, true, true])
  expect([isSame(0.5, 1), isSame(1.2, 2)]).toEqual([false, false])
})

it('pays only for what is new if a later job adds a part near those of earlier ones', async () => {
  const input = await bench.take('speech.wav')
  const segments = { ...DEFAULT_RECIPE.segments, handleSec: 0.2 }
  bench.answerWith('-af', 'volume=0.5')
  const paid = async (output: string, parts: ReturnType<typeof part>[]) => {
    const request = requestFor(input, { output: bench.folder.file(output), segments: parts, recipe: { segments } })
    const { event, receipt } = await runJob(request, bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    return receipt?.voices.map(({ startSample, endSample, paidSec }) => [
      ...[startSample / 48_000, endSample / 48_000, paidSec],
    ])
  }
  const [first, second, third, last] = [part(0.5, 1), part(1.3, 1.6), part(1.9, 2.1), part(2.4, null)]
  expect(await paid('1.wav', [first])).toEqual([[0.3, 1.2, 0.9]])
  expect(await paid('2.wav', [first, second])).toEqual([
    [0.3, 1.2, 0],
    [1.1, 1.8, 0.7],
  ])
  expect(await paid('3.wav', [third, last])).toEqual([[1.7, 3, 1.3]])
  expect(await paid('4.wav', [first, second, third, last])).toEqual([
    [0.3, 1.2, 0],
    [1.1, 1.8, 0],
    [1.7, 3, 0],
  ])
  expect(await paid('5.wav', [part(0, 0.1), first, second, third])).toEqual([
    [0, 0.3, 0.3],
    [0.3, 1.2, 0],
    [1.1, 1.8, 0],
    [1.7, 2.3, 0.6],
  ])
})

it.each(['aac', 'ac3'])(
  'pays once for a part in %s, whose decoder adds noise that depends on where it began',
  async (codec) => {
    const input = bench.folder.file('noisy.mp4')
    const noise = 'aevalsrc=0.2*sin(2*PI*200*t)+0.02*(random(1)-0.5):s=48000:d=14'
    await ffmpeg('-f', 'lavfi', '-i', noise, '-c:a', codec, '-b:a', '64k', input)
    bench.answerWith('-af', 'volume=0.5')
    const paid = async (output: string, segments: ReturnType<typeof part>[]) => {
      const request = requestFor(input, { output: bench.folder.file(output), segments })
      const { event, receipt } = await runJob(request, bench.pipeline.context)
      expect(event).toMatchObject({ status: 'done', error: null })
      return receipt?.voices.map(({ startSample, paidSec }) => [startSample / 48_000, paidSec])
    }
    expect(await paid('one.mp4', [part(10, 11)])).toEqual([[9, 3]])
    expect(await paid('two.mp4', [part(3, 4), part(10, 11)])).toEqual([
      [2, 3],
      [9, 0],
    ])
  },
)

it.each([
  [
    'keeps a part as it was paid for',
    [0, 100],
    [
      [0, 100],
      [90, 110],
    ],
    [
      [0, 100],
      [90, 110],
    ],
  ],
  [
    'keeps one up to the end',
    [90, null],
    [
      [0, 100],
      [90, null],
    ],
    [
      [0, 100],
      [90, null],
    ],
  ],
  [
    'keeps none that other handles were sent with',
    [0, 99],
    [
      [0, 100],
      [90, 110],
    ],
    [[0, 110]],
  ],
  [
    'keeps none that the handles beside it cover',
    [50, 70],
    [
      [0, 60],
      [50, 70],
      [60, 120],
    ],
    [[0, 120]],
  ],
] as const)('%s', (_, before, cuts, sent) => {
  const range = ([startSample, endSample]: readonly [number, number | null]) => ({ startSample, endSample })
  const parts = cuts.map((cut) => ({ ranges: [range(cut)], cut: range(cut) }))
  expect(joinMeeting(parts, [range(before)]).map(({ cut }) => [cut.startSample, cut.endSample])).toEqual(sent)
})
