import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { planTimeline, type TimelineRequest } from '../../../plugins/timelines/index.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import type { Receipt } from '../../../src/pipeline/output/receipt.js'
import { jobBench } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'
import { clip, external, timeline, timeRange, track } from './otio-file.js'
import { regenerated, timelineRequest } from './timeline-request.js'

const bench = jobBench()
const inSoak = it.runIf(process.env.VOXMUX_SOAK)

const regenerate = (input: string, more?: Partial<TimelineRequest>) => regenerated(input, bench.pipeline.context, more)

const cutOf = (media: string, start: number, length: number) =>
  timeline([track('Audio', [clip('room', external(media), timeRange(start, length, 48_000))])])

it('replaces what was made of an earlier state of the same cut, and nothing that somebody changed', async () => {
  await bench.take('speech.wav')
  const [cut, made] = [bench.folder.file('cut.otio'), bench.folder.file('cut.regen.otio')]
  await writeFile(cut, cutOf('speech.wav', 0, 24_000))
  const first = await regenerate(cut)
  expect(first.outcome.event).toMatchObject({ status: 'done', output: made, receipt: `${made}.voxmux.json` })
  const before = await readFile(made, 'utf8')

  await writeFile(cut, cutOf('speech.wav', 24_000, 24_000))
  expect((await regenerate(cut)).outcome.event).toMatchObject({ status: 'done', error: null })
  expect(await readFile(made, 'utf8')).not.toBe(before)

  await writeFile(cut, cutOf('speech.wav', 48_000, 24_000))
  await writeFile(made, `${await readFile(made, 'utf8')}\n`)
  await expect(regenerate(cut)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })

  // Another cut of the same name has no right to it either.
  await mkdir(bench.folder.file('other'))
  const other = bench.folder.file('other/cut.otio')
  await writeFile(other, cutOf(pathToFileURL(bench.folder.file('speech.wav')).href, 0, 12_000))
  await regenerate(cut, { settings: { ...timelineRequest(cut).settings, force: true } })
  await expect(regenerate(other, { output: made })).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
})

inSoak('replaces the bundle of an earlier state only if no file in it is another (only in the soak)', async () => {
  await bench.take('speech.wav')
  const bundle = bench.folder.file('cut.fcpxmld')
  await mkdir(bundle)
  const fcpxml = (durationSec: number) => `<?xml version="1.0"?><!DOCTYPE fcpxml><fcpxml version="1.11"><resources>
<format id="r1" frameDuration="1/25s"/>
<asset id="r2" name="speech" start="0s" duration="3s" hasAudio="1" audioSources="1" audioChannels="1" audioRate="48k">
<media-rep kind="original-media" src="${pathToFileURL(bench.folder.file('speech.wav')).href}"/></asset></resources>
<project><sequence format="r1"><spine><asset-clip ref="r2" offset="0s" start="0s" duration="${durationSec}s"/></spine>
</sequence></project></fcpxml>`
  await writeFile(`${bundle}/Info.fcpxml`, fcpxml(1))
  expect((await regenerate(bundle)).outcome.event).toMatchObject({ status: 'done', error: null })
  await writeFile(`${bundle}/Info.fcpxml`, fcpxml(2))
  expect((await regenerate(bundle)).outcome.event).toMatchObject({ status: 'done', error: null })
  await writeFile(`${bundle}/Info.fcpxml`, fcpxml(1))
  await writeFile(bench.folder.file('cut.regen.fcpxmld/notes.txt'), 'mine')
  await expect(regenerate(bundle)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
})

it('names with --force the tracks that an earlier cut regenerated and this one does not', async () => {
  await rename(await bench.take('two-tracks.mkv'), bench.folder.file('film.mkv'))
  const cut = bench.folder.file('cut.otio')
  await writeFile(cut, cutOf('film.mkv', 0, 24_000))
  const { settings } = timelineRequest(cut)
  const on = (which: number | 'all', force: boolean) => ({
    settings: { ...settings, force, recipe: { ...settings.recipe, track: which } },
  })
  expect((await regenerate(cut, on(0, false))).outcome.event).toMatchObject({ status: 'done', error: null })
  const notesOf = async (which: number | 'all') => (await planTimeline(timelineRequest(cut, on(which, true)), {})).notes
  expect(await notesOf(1)).toContainEqual({
    ...{ kind: 'undone', subject: 'film.mkv' },
    message: 'loses what an earlier cut regenerated in audio track 0',
  })
  expect((await notesOf('all')).filter(({ kind }) => kind === 'undone')).toEqual([])
})

it('takes what an earlier run sent as one from the cache, and sends only what the cut adds', async () => {
  const speech = await bench.take('speech.wav')
  const cut = bench.folder.file('cut.otio')
  const segments = [
    { startSec: 0.5, endSec: 0.6 },
    { startSec: 0.8, endSec: 0.9 },
  ]
  const { event } = await runJob(requestFor(speech, { segments }), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', error: null })
  await writeFile(cut, cutOf('speech.wav', 130_000, 9600))
  expect((await regenerate(cut)).outcome.event).toMatchObject({ status: 'done', error: null })
  const { voices } = JSON.parse(await readFile(bench.folder.file('speech.regen.wav.voxmux.json'), 'utf8'))
  const cached = voices.map(({ startSample, cached }: Receipt['voices'][number]) => [startSample, cached])
  expect(cached).toEqual([
    [0, true],
    [82_000, false],
  ])
})
