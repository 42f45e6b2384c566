import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { jobSettingsSchema, recipeHash } from '../../src/pipeline/plan/job-settings.js'
import { mixAt } from '../bench/voice-quality/made-noise.js'
import { jobBench } from '../helpers/job-bench.js'
import { ffmpeg } from '../helpers/media-factory.js'
import { makeWav } from '../helpers/sound/engine-fixtures.js'
import { madeMusic } from '../helpers/sound/made-music.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
const RATE = 48_000

it('--bed lower makes music under a voice quieter in what any service returns, and is not paid for again', async () => {
  const voice = noisySpeech(4 * RATE, { noiseGain: 0, seed: 12 }).clean.fill(0, 2 * RATE, 3 * RATE)
  const made = bench.folder.file('made.wav')
  makeWav(
    made,
    mixAt(6, voice, madeMusic('chords', voice.length)).map((value) => 0.3 * value),
  )
  const input = bench.folder.file('bed.wav')
  await ffmpeg('-i', made, '-ar', '44100', input)
  const { context } = bench.pipeline
  const kept = await runJob(requestFor(input), context)
  expect(await soundOf(kept.event.output)).toEqual(await soundOf(input))

  const lower = await runJob(requestFor(input, { force: true, recipe: { bed: 'lower' } }), context)
  expect(lower.event).toMatchObject({ status: 'done', error: null })
  expect(lower.receipt?.notes).toContainEqual(
    expect.stringMatching(/^Music under the voice is 6 dB quieter for 0:0[34]/),
  )
  expect(bench.server.calls.startProcess).toBe(1)
  const [before, after] = [await soundOf(input), await soundOf(lower.event.output)]
  expect(after.length).toBe(before.length)
  const pauseDb = (sound: Int16Array) => {
    const pause = sound.subarray(2.2 * 44_100, 2.8 * 44_100)
    return 10 * Math.log10(pause.reduce((sum, value) => sum + value * value, 0))
  }
  expect(pauseDb(after) - pauseDb(before)).toBeCloseTo(-6, 0)
}, 240_000)

it('--bed lower says in a note that it found no music', async () => {
  const input = bench.folder.file('voice.wav')
  makeWav(input, noisySpeech(2 * RATE, { noiseGain: 0, seed: 12 }).clean)
  const { receipt } = await runJob(requestFor(input, { recipe: { bed: 'lower' } }), bench.pipeline.context)
  const said = receipt?.notes.filter((note) => note.includes('usic'))
  expect(said).toEqual(['No music was found under the voice, so nothing was lowered.'])
}, 240_000)

it('the default bed changes no hash: outputs and queued jobs from before it stay valid', () => {
  const { settings } = requestFor('film.mp4')
  const { bed: _, ...before } = settings.recipe
  const queued = jobSettingsSchema.parse({ ...settings, recipe: before })
  expect(queued.recipe.bed).toBe('keep')
  expect(recipeHash(queued, 'service')).toBe('d6b44da908f2c106da231da7c9743e51ceda845549339966409f2da225949b52')
  const lower = { ...settings, recipe: { ...settings.recipe, bed: 'lower' as const } }
  expect(recipeHash(lower, 'service')).not.toBe(recipeHash(queued, 'service'))
})

async function soundOf(path: string | null): Promise<Int16Array> {
  const bytes = await readFile(path ?? '')
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset + bytes.indexOf('data') + 8))
}
