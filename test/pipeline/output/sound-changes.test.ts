import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { summary } from '../../../src/cli/output/summary.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { type RequestOptions, requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

/** Four seconds of steady noise, so that every window counts alike. */
async function noise(): Promise<string> {
  const path = bench.folder.file('noise.wav')
  await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=c=pink:seed=3:a=0.3:r=48000:d=4', '-c:a', 'pcm_s24le', path)
  return path
}

async function run(options: RequestOptions = {}) {
  const outcome = await runJob(requestFor(await noise(), options), bench.pipeline.context)
  expect(outcome.event).toMatchObject({ status: 'done', error: null })
  return { voice: outcome.receipt?.voices[0], words: summary([outcome]), report: outcome.receipt?.report ?? '' }
}

const HALF_FROM_1_TO_2 = "volume=0.5:enable='between(t,1,1.999)'"

describe('the change that a receipt states', () => {
  it('is none if the voice came back as it was, late or not', async () => {
    bench.answerWith('-af', 'adelay=25:all=1')
    const { voice, words, report } = await run({ report: true })
    expect(voice).toMatchObject({ lagSamples: 1200, changedSec: 0, removedDb: null })
    expect(words).toContain('0:04.000 left as it was')
    expect(words).not.toContain('0:04.000 regenerated')
    expect(await readFile(report, 'utf8')).toContain('0:04.000 left as it was')
  })

  it('is the seconds that changed, and how much quieter they are', async () => {
    bench.answerWith('-af', HALF_FROM_1_TO_2)
    const { voice, words } = await run()
    expect(Math.abs((voice?.changedSec ?? 0) - 1)).toBeLessThan(0.25)
    expect(voice?.removedDb).toBeGreaterThan(5)
    expect(words).toMatch(
      /0:04.000 regenerated, 0:01.\d+ of it changed: on average [56]\.\d dB quieter, pauses included/,
    )
  })

  it('counts neither handles nor what the mix leaves out', async () => {
    bench.answerWith('-af', 'volume=0.5')
    const { voice } = await run({ segments: [{ startSec: 1, endSec: 2 }], recipe: { mix: 50 } })
    expect(voice).toMatchObject({ changedSec: 1, removedDb: 2.5 })
  })

  it('is that of the parts without their overlaps if a long voice is divided', async () => {
    bench.answerWith('-af', 'volume=0.5')
    const input = bench.folder.file('long.wav')
    await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=c=pink:seed=3:a=0.3:r=8000:d=40', '-c:a', 'pcm_s16le', input)
    const { receipt } = await runJob(requestFor(input, { chunkSec: 15 }), bench.pipeline.context)
    const changed = receipt?.voices.map(({ changedSec }) => changedSec ?? 0) ?? []
    expect(changed.length).toBeGreaterThan(1)
    expect(changed.reduce((sum, sec) => sum + sec, 0)).toBeCloseTo(40, 1)
  })
})
