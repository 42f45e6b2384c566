import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { recipeHash } from '../../src/pipeline/plan/job-settings.js'
import { jobBench } from '../helpers/job-bench.js'
import { ffmpeg, ffmpegOutput, ffprobeJson, picture, tone } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()

interface Stream {
  readonly codec_type: string
  readonly id?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly disposition: Readonly<Record<string, number>>
}

async function streamsOf(path: string) {
  const { streams } = (await ffprobeJson(path, '-show_streams')) as { streams: readonly Stream[] }
  const lines = (await ffmpegOutput('-i', path, '-map', '0', '-c', 'copy', '-f', 'streamhash', 'pipe:1')).toString()
  const hashes = lines.trim().split('\n')
  return streams.map(({ id, tags, ...stream }, index) => ({ ...stream, id, tags, packets: hashes[index]?.slice(4) }))
}

/** A clip with a track in English, which is the default, and one in Spanish. */
async function clip(container: string, video: string, audio: string): Promise<string> {
  const path = bench.folder.file(`clip.${container}`)
  await ffmpeg(
    ...[...picture(1.5), ...tone(1.5, 48_000, 2), ...tone(1.5), '-map', '0', '-map', '1', '-map', '2', '-c:v', video],
    ...['-c:a', audio, '-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=spa', path],
  )
  return path
}

it.each([
  ['mkv', 'mpeg4', 'flac', 'title', null],
  ['mp4', 'mpeg4', 'aac', 'handler_name', 'kind\0\0\0\0urn:mpeg:dash:role:2011\0enhanced-audio-intelligibility\0'],
  ['mov', 'mjpeg', 'pcm_s24le', 'handler_name', 'tagcpublic.accessibility.enhances-speech-intelligibility'],
  ['ts', 'mpeg2video', 'aac', null, null],
])('--add-track keeps every track of .%s, and adds one that is marked as clear dialogue', async (...row) => {
  const [container, video, audio, name, mark] = row
  const input = await clip(container, video, audio)
  bench.answerWith('-af', 'volume=0.5')
  const { event, receipt } = await runJob(
    requestFor(input, { recipe: { track: 0, addTrack: true } }),
    bench.pipeline.context,
  )
  expect(event).toMatchObject({ status: 'done', error: null })
  const output = event.output ?? ''
  const [before, after] = [await streamsOf(input), await streamsOf(output)]
  const kept = ({ codec_type, id, packets, tags, disposition }: (typeof after)[number]) => {
    return { codec_type, id, packets, language: tags?.language, disposition }
  }
  expect(after.slice(0, 3).map(kept)).toEqual(before.map(kept))
  const added = after[3]
  expect(added).toMatchObject({ codec_type: 'audio', codec_name: audio, tags: { language: 'eng' } })
  expect(added?.packets).not.toBe(after[1]?.packets)
  expect(added?.disposition).toMatchObject({ default: 0, hearing_impaired: mark ? 0 : 1, captions: 0 })
  if (name) expect(added?.tags?.[name]).toBe('Clear dialogue')
  if (mark) expect((await readFile(output, 'latin1')).split(mark)).toHaveLength(2)
  expect(receipt?.streams.map(({ index, outputIndex, fate }) => [index, outputIndex, fate])).toEqual([
    ...[0, 1, 2].map((index) => [index, index, 'copied']),
    [1, 3, 'added'],
  ])
  expect(receipt?.losses).toEqual([])
})

it('--add-track: a .wav has no room for a second track, and a second run has nothing to do', async () => {
  const input = await bench.take('speech.wav')
  bench.answerWith('-af', 'volume=0.5')
  const add = (output: string, recipe = {}) => {
    return runJob(requestFor(input, { output, recipe: { addTrack: true, ...recipe } }), bench.pipeline.context)
  }
  const refused = await add(bench.folder.file('one.wav'))
  expect(refused.event).toMatchObject({ status: 'failed', error: { code: 'ERR_TRACK_NOT_ADDED' } })
  expect([refused.error?.exitCode, bench.server.charges]).toEqual([2, 0])
  const output = bench.folder.file('two.mka')
  expect((await add(output)).event.status).toBe('done')
  expect((await add(output)).event.status).toBe('skipped')
  expect((await streamsOf(output)).map(({ tags }) => tags?.title)).toEqual([undefined, 'Clear dialogue'])
  expect(bench.server.charges).toBe(1)
})

it('--add-track makes another job of a file, and leaves the hash of all other jobs as it was', () => {
  const { settings } = requestFor('/clip.mov')
  const { addTrack: _, ...older } = settings.recipe
  const hashOf = (recipe: object) => recipeHash({ ...settings, recipe: recipe as typeof settings.recipe }, 'service')
  expect(hashOf(settings.recipe)).toBe(hashOf(older))
  expect(hashOf({ ...older, addTrack: true })).not.toBe(hashOf(older))
})
