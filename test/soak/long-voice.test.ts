import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { jobBench } from '../helpers/job-bench.js'
import { ffmpeg, ffmpegOutput } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
const RATE = 8000
const PARTS = 16
/** Two hours. */
const [totalSec, chunkSec] = [7200, 505]

it(`${totalSec} s go in ${PARTS} parts at once, and no join is heard in what comes back at ${PARTS} levels`, async ({
  skip,
}) => {
  // In short it has four parts, in pipeline/chunks.test.ts.
  if (!process.env.VOXMUX_SOAK) skip('only in the soak')
  const input = bench.folder.file('long.wav')
  // Syllables with a pause each four seconds; the noise tells every place from every other.
  const wave = String.raw`0.2*(random(0)-0.5+0.5*sin(2*PI*210*t))*lt(mod(t\,4)\,3.4)+0.0004*random(1)`
  await ffmpeg('-f', 'lavfi', '-i', `aevalsrc=${wave}:s=${RATE}:d=${totalSec}`, '-c:a', 'pcm_s24le', input)
  let [atService, mostAtService, made] = [0, 0, 0]
  bench.server.behaviour.regenerate = async (path, { fileId }) => {
    const gainDb = [0, -6, 4, -3, 5, -5, 2][made++ % 7]
    atService += 1
    mostAtService = Math.max(mostAtService, atService)
    const answer = bench.folder.file(`${fileId}.flac`)
    await ffmpeg('-i', path, '-af', `volume=${gainDb}dB`, '-f', 'flac', answer)
    // None is ready before all are there.
    for (let waits = 0; mostAtService < PARTS && waits < 1200; waits++) await delay(50)
    atService -= 1
    return readFile(answer)
  }
  const context = { ...bench.pipeline.context, voiceConcurrency: PARTS }
  const { event, receipt } = await runJob(requestFor(input, { chunkSec }), context)
  expect(event).toMatchObject({ status: 'done', error: null })
  const voices = receipt?.voices ?? []
  expect([voices.length, mostAtService]).toEqual([PARTS, PARTS])
  const [before, after] = await Promise.all([samplesOf(input), samplesOf(event.output ?? '')])
  const stepsDb = voices.slice(1).map(({ startSample }, place) => {
    const end = voices[place]?.endSample ?? 0
    return Math.abs(gainDb(before, after, end, end + RATE) - gainDb(before, after, startSample - RATE, startSample))
  })
  expect(Math.max(...stepsDb)).toBeLessThan(0.1)
  // To the sample: one gain makes the one of the other, all along.
  const factor = 10 ** (gainDb(before, after, 0, before.length) / 20)
  const off = before.reduce((most, value, at) => Math.max(most, Math.abs(value * factor - (after[at] ?? 0))), 0)
  expect(after.length).toBe(before.length)
  expect(off).toBeLessThan(0.01)
}, 1_800_000)

async function samplesOf(path: string): Promise<Float32Array> {
  const bytes = await ffmpegOutput('-i', path, '-f', 'f32le', 'pipe:1')
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

function gainDb(before: Float32Array | undefined, after: Float32Array | undefined, from: number, to: number): number {
  const power = (samples: Float32Array = new Float32Array()) =>
    samples.subarray(from, to).reduce((sum, value) => sum + value * value, 0)
  return 10 * Math.log10(power(after) / power(before))
}
