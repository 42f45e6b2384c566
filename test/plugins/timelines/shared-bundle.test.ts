import { existsSync } from 'node:fs'
import { copyFile, readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { planTimeline, regenerateTimeline } from '../../../plugins/timelines/index.js'
import { jobBench } from '../../helpers/job-bench.js'
import { cutOf, otioArchive } from './otio-archive.js'
import { regenerated, timelineRequest } from './timeline-request.js'

const bench = jobBench()

it('an archive is kept unpacked for the last of two runs, whichever of them that is', async () => {
  const speech = await bench.take('speech.wav')
  const cut = await otioArchive(bench, 'cut.otioz', cutOf('media/speech.wav'), { 'media/speech.wav': speech })
  const unpacked = bench.folder.file('cut.regen.media/media/speech.wav')
  const request = timelineRequest(cut)
  for (const order of ['first', 'second']) {
    const plans = [await planTimeline(request, {}), await planTimeline(request, {})]
    const [left, other] = order === 'first' ? plans : plans.toReversed()
    await left?.bundle?.release()
    expect((await readFile(unpacked)).equals(await readFile(speech))).toBe(true)
    if (other) await regenerateTimeline(other, bench.pipeline.context, { concurrency: 1 })
    await other?.bundle?.release()
    expect(existsSync(unpacked)).toBe(false)
  }
  const { plan, outcome } = await regenerated(cut, bench.pipeline.context)
  await plan.bundle?.release()
  expect(outcome.event.status).toBe('skipped')
  expect(bench.server.charges).toBe(1)
  const names = (await readdir(bench.folder.path)).filter((name) => name.startsWith('.'))
  expect(names).toEqual([])
})

it('an archive that is exported again meanwhile is not mixed with the new media of the one before', async () => {
  const [speech, other] = [await bench.take('speech.wav'), await bench.take('field-recorder.wav')]
  const cut = await otioArchive(bench, 'cut.otioz', cutOf('media/speech.wav'), { 'media/speech.wav': speech })
  const newer = await otioArchive(bench, 'newer.otioz', cutOf('media/other.wav'), { 'media/other.wav': other })
  bench.server.behaviour.regenerate = async (path) => {
    await copyFile(newer, cut)
    return readFile(path)
  }
  await expect(regenerated(cut, bench.pipeline.context)).rejects.toMatchObject({
    code: 'ERR_INPUT_CHANGED',
    input: cut,
  })
  expect(existsSync(bench.folder.file('cut.regen.otioz'))).toBe(false)
})
