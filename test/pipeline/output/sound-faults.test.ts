import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { summary } from '../../../src/cli/output/summary.js'
import { resolveConfig } from '../../../src/config/index.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { openRuntime } from '../../../src/runtime/open-runtime.js'
import { inRoom } from '../../bench/voice-quality/made-rooms.js'
import { jobBench } from '../../helpers/job-bench.js'
import { makeWav } from '../../helpers/sound/engine-fixtures.js'
import { noisySpeech } from '../../helpers/sound/made-speech.js'
import { type RequestOptions, requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()
const RATE = 48_000

/** Eight seconds of speech with hum of 50 Hz, clipped. */
function faulty(): string {
  const { clean } = noisySpeech(8 * RATE, { noiseGain: 0, seed: 12 })
  const loudest = clean.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0)
  const hum = (i: number) => [1, 2, 3].reduce((sum, k) => sum + Math.sin((2 * Math.PI * 50 * k * i) / RATE) / k, 0)
  const path = bench.folder.file('faulty.wav')
  makeWav(
    path,
    clean.map((value, i) => Math.max(-0.4, Math.min(0.4, (0.8 * value) / loudest + 0.02 * hum(i)))),
  )
  return path
}

async function run(context: Parameters<typeof runJob>[1], options: RequestOptions = {}, path = faulty()) {
  const outcome = await runJob(requestFor(path, { report: true, ...options }), context)
  expect(outcome.event).toMatchObject({ status: 'done', error: null })
  const report = await readFile(outcome.receipt?.report ?? '', 'utf8')
  return { voice: outcome.receipt?.voices[0], words: summary([outcome]), report }
}

it('receipt, summary and report state the hum and the clipping that the embedded engine removes', async () => {
  const folders = { config: null, data: bench.folder.path, cache: bench.folder.path }
  const flags = { stateDir: bench.folder.file('state') }
  const config = await resolveConfig({ cwd: bench.folder.path, env: {}, flags, folders: folders as never })
  const runtime = await openRuntime(config)
  const { voice, words, report } = await run(runtime.context).finally(() => runtime.close())
  expect(voice?.hum?.frequencyHz).toBeCloseTo(50, 1)
  expect(voice?.hum?.fallDb).toBeGreaterThan(20)
  expect(voice?.clipping?.share).toBeGreaterThan(0.001)
  expect(voice?.clipping?.shareLeft).toBe(0)
  const hum = /mains hum of 50\.0 Hz at -\d+ dBFS, [2-6]\d dB lower in the output/
  const clipping = /clipped peaks in \d\.\d+ % of the samples, 0\.00 % in the output/
  for (const text of [words, report]) {
    expect(text).toMatch(hum)
    expect(text).toMatch(clipping)
  }
}, 120_000)

it('what a service leaves, or the mix, is stated as left', async () => {
  const { voice, words } = await run(bench.pipeline.context)
  expect(voice?.clipping?.shareLeft).toBe(voice?.clipping?.share)
  expect(words).toMatch(/mains hum of 50\.0 Hz at -\d+ dBFS, still there in the output/)
})

it('reverberation is stated before and after', async () => {
  const { clean } = noisySpeech(6 * RATE, { noiseGain: 0, seed: 12 })
  const path = bench.folder.file('room.wav')
  makeWav(
    path,
    inRoom(
      clean.map((value) => value / 4),
      { t60Sec: 0.5, sampleRate: RATE, seed: 4 },
    ),
  )
  const { voice, words, report } = await run(bench.pipeline.context, {}, path)
  expect(voice?.reverberation?.levelDb).toBeLessThan(0)
  expect(voice?.reverberation?.levelLeftDb).toBeCloseTo(voice?.reverberation?.levelDb ?? 0, 0)
  for (const text of [words, report])
    expect(text).toMatch(/reverberation at -\d+ dB relative to the voice, -\d+ dB in the output/)
})
