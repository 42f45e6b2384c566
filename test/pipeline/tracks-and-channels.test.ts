import { expect, it } from 'vitest'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { decodedPcm, jobBench, streamHash } from '../helpers/job-bench.js'
import { ffmpeg, ffprobeJson, picture, tone } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()

async function twoTracks(): Promise<string> {
  const path = bench.folder.file('two.mov')
  const languages = ['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=spa']
  await ffmpeg(
    ...[...picture(1.5), ...tone(1.5, 48_000, 2), ...tone(1.5, 32_000), '-map', '0', '-map', '1', '-map', '2'],
    ...['-c:v', 'mjpeg', '-c:a', 'pcm_s24le', ...languages, path],
  )
  return path
}

it('--track all --keep-original: every track its own job, the untouched ones behind, labelled, not default', async () => {
  const input = await twoTracks()
  bench.answerWith('-af', 'volume=0.5')
  const { event, receipt } = await runJob(
    requestFor(input, { recipe: { track: 'all', keepOriginal: true } }),
    bench.pipeline.context,
  )
  expect(event).toMatchObject({ status: 'done', error: null })
  expect(receipt?.voices).toHaveLength(2)
  expect(receipt?.tracks.map(({ sync }) => sync.map(({ offsetSamples }) => offsetSamples))).toEqual([
    [0, 0, 0],
    [0, 0, 0],
  ])
  const output = event.output ?? ''
  const { streams } = (await ffprobeJson(output, '-show_streams', '-select_streams', 'a')) as {
    streams: { tags: Record<string, string>; disposition: { default: number } }[]
  }
  expect(streams.map(({ tags }) => tags.language)).toEqual(['eng', 'eng', 'spa', 'spa'])
  expect([1, 3].map((place) => streams[place]?.tags.handler_name)).toEqual(['Original', 'Original'])
  expect([1, 3].map((place) => streams[place]?.disposition.default)).toEqual([0, 0])
  for (const place of [0, 1]) {
    const original = await decodedPcm(input, place)
    expect((await decodedPcm(output, 2 * place + 1)).equals(original)).toBe(true)
    expect((await decodedPcm(output, 2 * place)).equals(original)).toBe(false)
  }
  expect(await streamHash(output, '0:v')).toBe(await streamHash(input, '0:v'))
})

it('--mix 50: half of the voice, half of the original, and a voice that is paid for once', async () => {
  const input = await bench.take('speech.wav')
  bench.answerWith('-af', 'volume=0.5')
  const output = bench.folder.file('mixed.wav')
  const whole = await runJob(requestFor(input, { output }), bench.pipeline.context)
  expect(whole.event).toMatchObject({ status: 'done', error: null })
  const requests = bench.server.requests.length
  const half = await runJob(requestFor(input, { output, force: true, recipe: { mix: 50 } }), bench.pipeline.context)
  expect(half.event).toMatchObject({ status: 'done', error: null })
  expect(bench.server.requests.length).toBe(requests)
  const [before, after] = [await decodedPcm(input), await decodedPcm(output)]
  expect(after.length).toBe(before.length)
  let farthest = 0
  for (let at = 0; at < before.length; at += 4) {
    farthest = Math.max(farthest, Math.abs(after.readInt32LE(at) - 0.75 * before.readInt32LE(at)))
  }
  // Two steps of 16 bits.
  expect(farthest).toBeLessThanOrEqual(2 ** 17)
})

it.each([
  { kind: 'mov', endSec: null },
  { kind: 'mkv', endSec: 2.5 },
])(
  'a segment behind the end of the sound of a .$kind, where the picture goes on, is refused',
  async ({ kind, endSec }) => {
    const input = bench.folder.file(`short.${kind}`)
    await ffmpeg(...picture(6), ...tone(1), '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', input)
    const segments = [
      { startSec: 0.2, endSec: 0.5 },
      { startSec: 2, endSec },
    ]
    const { event, error } = await runJob(requestFor(input, { segments }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'failed', error: { code: 'ERR_SEGMENT_OUTSIDE' } })
    expect(error?.message).toMatch(/0:01\.0|0:00\.9/)
    expect([error?.exitCode, bench.server.charges]).toEqual([2, 0])
  },
)

it.each(['mov', 'mkv'])('a segment that goes on behind the end of the sound of a .%s sends the sound', async (kind) => {
  const input = bench.folder.file(`ending.${kind}`)
  await ffmpeg(...picture(9), ...tone(2), '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', input)
  const segments = [{ startSec: 0.5, endSec: 5 }]
  const { event, receipt } = await runJob(requestFor(input, { segments }), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', error: null })
  expect(receipt?.voices.map(({ paidSec }) => paidSec)).toEqual([2])
  expect((await decodedPcm(event.output ?? '')).length).toBe((await decodedPcm(input)).length)
})

it('--channels downmix: the track becomes stereo, as long as it was', async () => {
  const input = await bench.take('surround.wav')
  const { event } = await runJob(requestFor(input, { recipe: { channels: 'downmix' } }), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', error: null })
  const { streams } = (await ffprobeJson(event.output ?? '', '-show_streams')) as { streams: { channels: number }[] }
  expect(streams.map(({ channels }) => channels)).toEqual([2])
  const [before, after] = [await decodedPcm(input), await decodedPcm(event.output ?? '')]
  expect(after.length / 2).toBe(before.length / 6)
})
