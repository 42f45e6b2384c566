import { expect, it } from 'vitest'
import { summary } from '../../src/cli/output/summary.js'
import { loadPreset } from '../../src/config/load-preset.js'
import { recipeSchema } from '../../src/config/preset-schema.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { fixture, jobBench } from '../helpers/job-bench.js'
import { ebur128, ffmpeg } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()

it.each([
  ['quiet, raised without the limiter', 'volume=-24dB', -30, -1],
  ['raised against the ceiling', 'volume=-6dB', -16, -3],
])(
  'a voice that is %s meets its target by the judgement of ffmpeg',
  async (_what, filter, targetLufs, truePeakDbtp) => {
    const input = bench.folder.file('talk.wav')
    await ffmpeg('-t', '8', '-i', fixture('interview.mp4'), '-vn', '-af', filter, '-c:a', 'pcm_s24le', input)
    const loudness = { targetLufs, truePeakDbtp }
    const { event, receipt } = await runJob(requestFor(input, { recipe: { loudness } }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    const heard = await ebur128(event.output ?? '')
    expect(Math.abs(heard.integrated - targetLufs)).toBeLessThanOrEqual(0.5)
    expect(heard.peak).toBeLessThanOrEqual(truePeakDbtp + 0.05)
    expect(receipt?.notes).not.toContainEqual(expect.stringContaining('LUFS'))
    const said = receipt?.tracks[0]?.loudness
    expect(Math.abs((said?.after.integratedLufs ?? 0) - heard.integrated)).toBeLessThanOrEqual(0.1)
  },
)

it.each([
  ['carries an answer of 16 bits to the encoder of a lossy track as it is', null, 's16le'],
  ['reckons a gain in the numbers of the track', { targetLufs: -23, truePeakDbtp: -1 }, 'f32le'],
])('%s', async (_what, loudness, pcm) => {
  bench.answerWith('-af', 'volume=0.5:precision=fixed')
  const input = bench.folder.file('talk.m4a')
  await ffmpeg('-t', '4', '-i', fixture('interview.mp4'), '-vn', '-c:a', 'copy', input)
  const { event, receipt } = await runJob(requestFor(input, { recipe: { loudness } }), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', error: null })
  expect(receipt?.ffmpeg.runs.flat()).toContain(pcm)
})

it('says in a note that the limit of true peaks kept a track below its target', async () => {
  const input = bench.folder.file('talk.wav')
  await ffmpeg('-t', '4', '-i', fixture('interview.mp4'), '-vn', '-c:a', 'pcm_s16le', input)
  const loudness = { targetLufs: -9, truePeakDbtp: -3 }
  const outcome = await runJob(requestFor(input, { recipe: { loudness } }), bench.pipeline.context)
  const reached = outcome.receipt?.tracks[0]?.loudness.after.integratedLufs ?? 0
  expect(reached).toBeLessThan(-9.5)
  const note = `Audio track 0 has ${reached.toFixed(1)} LUFS instead of -9 LUFS, because more would lift its true peaks over -3 dBTP.`
  expect(outcome.receipt?.notes).toContainEqual(expect.stringContaining(note))
  expect(summary([outcome])).toContain(note)
})

it.each([
  ['holds at once, so that it is encoded once', '96k', 2, 8, {}],
  // So much limiting comes back over the limit, with the usual reserve.
  ['is passed at first, so that it is encoded again with more reserve', '24k', 1, 5, { targetLufs: -2 }],
])(
  'the limit of web-video %s in the finished AAC, by the judgement of ffmpeg',
  async (what, bitRate, channels, sec, target) => {
    const input = bench.folder.file('talk.m4a')
    const sound = ['-t', String(sec), '-i', fixture('interview.mp4'), '-vn', '-ac', String(channels)]
    await ffmpeg(...sound, '-c:a', 'aac', '-b:a', bitRate, input)
    const preset = recipeSchema.shape.loudness.unwrap().parse((await loadPreset('web-video')).preset.loudness)
    const loudness = { ...preset, ...target }
    const { event, receipt } = await runJob(requestFor(input, { recipe: { loudness } }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect((await ebur128(event.output ?? '')).peak).toBeLessThanOrEqual(-1)
    const fedDbtp = receipt?.tracks[0]?.loudness.after.truePeakDbtp ?? 0
    if (what.startsWith('holds')) expect(fedDbtp).toBeCloseTo(-2.1, 1)
    else expect(fedDbtp).toBeLessThan(-2.3)
  },
)
