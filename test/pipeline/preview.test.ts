import { copyFile, readdir, readFile, stat } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { probe } from '../../src/media/index.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { hasComparison } from '../../src/pipeline/report/report-page.js'
import { fixture, jobBench } from '../helpers/job-bench.js'
import { ffmpeg, picture, tone } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
const SLOW_PICTURE = ['-c:v', 'mpeg4', '-g', '100']

describe('a preview', () => {
  it('works on its seconds alone, and leaves a short clip with a page to compare', async () => {
    const film = bench.folder.file('film.mkv')
    // A copy in Matroska would begin at the key frame before the part.
    await ffmpeg(...picture(30), ...tone(30), ...SLOW_PICTURE, '-c:a', 'aac', film)
    const segments = [{ startSec: 11, endSec: null }]
    const run = (previewSec: number) => runJob(requestFor(film, { previewSec, segments }), bench.pipeline.context)

    const { event, receipt } = await run(3)
    expect(event).toMatchObject({ status: 'done', error: null, output: bench.folder.file('film.preview.mov') })
    const clip = await probe(event.output ?? '')
    expect(clip.streams.map(({ kind }) => kind)).toEqual(['video', 'audio'])
    expect(clip.durationSec).toBeCloseTo(3, 0)
    expect(receipt?.voices.reduce((sum, { paidSec }) => sum + (paidSec ?? 0), 0)).toBeCloseTo(3, 0)
    expect(receipt?.notes).toContain(`A preview: 3 s of ${film}, from 11 s on.`)
    // The job read a small copy, not the film.
    expect(receipt?.input.sizeBytes).toBeLessThan((await stat(film)).size / 2)
    const page = await readFile(receipt?.report ?? '', 'utf8')
    expect(hasComparison(page)).toBe(true)
    expect(page).toContain(`From <code>${film}</code>`)

    expect((await run(3)).event).toMatchObject({ status: 'skipped', output: event.output })
    expect(bench.server.charges).toBe(1)
    const shorter = await run(2)
    expect(shorter.event).toMatchObject({ status: 'done', error: null, output: event.output })
    expect((await probe(event.output ?? '')).durationSec).toBeCloseTo(2, 0)
    expect(await readdir(bench.folder.file('state/previews'))).toEqual([])
  })

  it('that is longer than the file is the rest of the file', async () => {
    const input = bench.folder.file('short.wav')
    await ffmpeg(...tone(4), input)
    const request = requestFor(input, { previewSec: 1800, segments: [{ startSec: 1, endSec: null }] })
    const { event, receipt } = await runJob(request, bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(receipt?.notes).toContain(`A preview: 3 s of ${input}, from 1 s on.`)
  })

  it('keeps the picture of a film whose tracks fit into .mp4 alone', async () => {
    const input = bench.folder.file('two-tracks.mkv')
    await copyFile(fixture('two-tracks.mkv'), input)
    const request = requestFor(input, { previewSec: 1, recipe: { track: 0 } })
    const { event } = await runJob(request, bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null, output: bench.folder.file('two-tracks.preview.mp4') })
    expect((await probe(event.output ?? '')).streams.map(({ kind }) => kind)).toEqual(['video', 'audio', 'audio'])
  })

  it.each([
    ['no-audio.mp4', 'ERR_NO_AUDIO'],
    ['surround.wav', 'ERR_TOO_MANY_CHANNELS'],
  ])('of %s is refused by the name of the file', async (name, code) => {
    const input = bench.folder.file(name)
    await copyFile(fixture(name), input)
    const { event } = await runJob(requestFor(input, { previewSec: 1 }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'rejected', error: { code, message: expect.stringContaining(input) } })
  })

  it('has the format that was asked for', async () => {
    const input = bench.folder.file('short.wav')
    await ffmpeg(...tone(4), input)
    const request = requestFor(input, { previewSec: 1, outputType: 'flac' })
    const { event } = await runJob(request, bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', output: bench.folder.file('short.preview.flac') })
  })

  it('is sound alone if the output cannot begin between two pictures', async () => {
    const [input, output] = [bench.folder.file('film.mov'), bench.folder.file('part.mkv')]
    await ffmpeg(...picture(4), ...tone(4), ...SLOW_PICTURE, '-c:a', 'pcm_s16le', input)
    const segments = [{ startSec: 0.5, endSec: null }]
    const { event } = await runJob(
      { ...requestFor(input, { previewSec: 1, segments }), output },
      bench.pipeline.context,
    )
    expect(event).toMatchObject({ status: 'done', error: null, output })
    expect((await probe(output)).streams.map(({ kind }) => kind)).toEqual(['audio'])
  })

  it.each(['flac', 'avi'])('of a %s ends where it should', async (extension) => {
    const input = bench.folder.file(`sound.${extension}`)
    const codec = extension === 'avi' ? [...picture(6), '-c:v', 'ffv1', '-c:a', 'pcm_s16le'] : []
    await ffmpeg(...tone(6), ...codec, input)
    const { event, receipt } = await runJob(requestFor(input, { previewSec: 2 }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(receipt?.voices).toHaveLength(1)
    expect((await probe(event.output ?? '')).durationSec).toBeCloseTo(2, 0)
  })
})
