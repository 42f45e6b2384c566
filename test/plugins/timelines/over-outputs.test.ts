import { copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import type { TimelineRequest } from '../../../plugins/timelines/index.js'
import { decodedPcm, fixture, jobBench } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'
import { clip, external, timeline, timeRange, track } from './otio-file.js'
import { regenerated } from './timeline-request.js'

const bench = jobBench()

const regenerate = (input: string, more?: Partial<TimelineRequest>) => regenerated(input, bench.pipeline.context, more)

/** A cut of stretches, each of a file, from a sample on. */
const cutOf = (...parts: readonly (readonly [media: string, start: number, length: number])[]) =>
  timeline([
    track(
      'Audio',
      parts.map(([media, start, length]) => clip(media, external(media), timeRange(start, length, 48_000))),
    ),
  ])

it('a cut that goes on over the regenerated files adds to them what it plays besides', async () => {
  const speech = await bench.take('speech.wav')
  await bench.take('field-recorder.wav')
  bench.answerWith('-af', 'volume=-6dB')
  const cut = bench.folder.file('cut.otio')
  await writeFile(cut, cutOf(['speech.wav', 24_000, 24_000]))
  await regenerate(cut)
  const charges = bench.server.charges

  // The editor opened the new timeline, made the clip longer, and cut a new recording in.
  const second = bench.folder.file('second.otio')
  const longer = [bench.folder.file('speech.regen.wav'), 24_000, 72_000] as const
  await writeFile(second, cutOf(longer, ['field-recorder.wav', 0, 24_000]))
  const { plan, outcome } = await regenerate(second)
  expect(outcome.event).toMatchObject({ status: 'done', error: null })
  expect(plan.sources.map(({ media }) => media.path)).toEqual([speech, bench.folder.file('field-recorder.wav')])
  expect(bench.server.charges).toBe(charges + 2)
  expect((await readdir(bench.folder.path)).filter((name) => /regen\.regen/.test(name))).toEqual([])
  const [before, after] = [await decodedPcm(speech), await decodedPcm(bench.folder.file('speech.regen.wav'))]
  const isSame = (from: number, to: number) =>
    after.subarray(4 * from, 4 * to).equals(before.subarray(4 * from, 4 * to))
  expect([isSame(0, 24_000), isSame(24_000, 48_000), isSame(60_000, 96_000)]).toEqual([true, false, false])
  // The clip that played it already has no second reference to it.
  const [clips] = JSON.parse(await readFile(bench.folder.file('second.regen.otio'), 'utf8')).tracks.children
  expect(clips.children.map((one: { media_references: object }) => Object.keys(one.media_references))).toEqual([
    ['DEFAULT_MEDIA'],
    ['DEFAULT_MEDIA', 'voxmux'],
  ])
})

it('a regenerated file in another folder is added to there, also if the new timeline gets a name', async () => {
  await bench.take('speech.wav')
  const [cut, second] = [bench.folder.file('cut.otio'), bench.folder.file('second.otio')]
  await writeFile(cut, cutOf(['speech.wav', 24_000, 24_000]))
  await regenerate(cut, { output: `${bench.folder.file('made')}/` })
  const made = bench.folder.file('made/speech.regen.wav')
  await writeFile(second, cutOf([made, 24_000, 72_000]))
  const { plan } = await regenerate(second, { output: bench.folder.file('final.otio') })
  expect(plan.sources.map(({ job }) => job.output)).toEqual([made])
  expect(plan.notes).toMatchObject([{ kind: 'kept' }])
  expect(await readdir(bench.folder.path)).not.toContain('speech.regen.wav')
})

it('a regenerated file that a person has edited since is a file of its own, also with the same length', async () => {
  await bench.take('speech.wav')
  const [cut, second] = [bench.folder.file('cut.otio'), bench.folder.file('second.otio')]
  await writeFile(cut, cutOf(['speech.wav', 24_000, 24_000]))
  await regenerate(cut)
  const edited = bench.folder.file('speech.regen.wav')
  const bytes = await readFile(edited)
  await writeFile(edited, bytes.fill(1, bytes.length - 1000))
  await writeFile(second, cutOf([edited, 24_000, 72_000]))
  const { plan } = await regenerate(second)
  expect(plan.sources.map(({ media }) => media.path)).toEqual([edited])
  expect((await readFile(edited)).equals(bytes)).toBe(true)
})

it('clips of an output whose original is gone stay as they are, with a note', async () => {
  const speech = await bench.take('speech.wav')
  await bench.take('field-recorder.wav')
  const cut = bench.folder.file('cut.otio')
  await writeFile(cut, cutOf(['speech.wav', 0, 24_000]))
  await regenerate(cut)
  await rm(speech)
  const second = bench.folder.file('second.otio')
  await writeFile(second, cutOf(['speech.regen.wav', 0, 48_000], ['field-recorder.wav', 0, 24_000]))
  const { plan, outcome } = await regenerate(second)
  expect(plan.notes).toMatchObject([{ kind: 'offline', subject: 'speech.regen.wav' }])
  expect(plan.notes[0]?.message).toContain(speech)
  expect(outcome.event).toMatchObject({ status: 'done', error: null })
  await writeFile(second, cutOf(['speech.regen.wav', 0, 48_000]))
  await expect(regenerate(second)).rejects.toMatchObject({ code: 'ERR_TIMELINE_OFFLINE' })
})

it('the output of a file replaces no other file that the cut plays, even with --force', async () => {
  await bench.take('speech.wav')
  await copyFile(fixture('field-recorder.wav'), bench.folder.file('speech.regen.wav'))
  const cut = bench.folder.file('cut.otio')
  await writeFile(cut, cutOf(['speech.wav', 0, 24_000], ['speech.regen.wav', 0, 24_000]))
  const { settings } = requestFor(cut, { force: true })
  await expect(regenerate(cut, { settings })).rejects.toMatchObject({ code: 'ERR_OUTPUT_IS_INPUT' })
  expect(bench.server.calls.registerFile).toBe(0)
})

it('a file of another program with the name of the receipt stays, and nothing is paid', async () => {
  await bench.take('speech.wav')
  const cut = bench.folder.file('cut.otio')
  const receipt = bench.folder.file('cut.regen.otio.voxmux.json')
  await writeFile(cut, cutOf(['speech.wav', 24_000, 24_000]))
  await writeFile(receipt, 'mine')
  await expect(regenerate(cut)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS', input: receipt })
  expect(await readFile(receipt, 'utf8')).toBe('mine')
  expect(bench.server.charges).toBe(0)
  const forced = await regenerate(cut, { settings: requestFor(cut, { force: true }).settings })
  expect(forced.outcome.event).toMatchObject({ status: 'done', receipt })
  expect(await readFile(receipt, 'utf8')).not.toBe('mine')
})
