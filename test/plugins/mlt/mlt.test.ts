import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { planTimeline, regenerateTimeline } from '../../../plugins/timelines/index.js'
import { decodedPcm, jobBench } from '../../helpers/job-bench.js'
import { ffmpegOutput } from '../../helpers/media-factory.js'
import { timelineRequest } from '../timelines/timeline-request.js'
import { kdenliveProject, meltProject, shotcutProject } from './project.js'

const run = promisify(execFile)
const bench = jobBench()
const FRAME = 1920

const hasMelt = await run('melt', ['--version']).then(
  () => true,
  () => false,
)
if (!hasMelt) process.stderr.write('skipped: melt is not installed, so no project is rendered\n')

async function projectOf(name: string, text: (root: string) => string): Promise<string> {
  await bench.take('timecode.mov')
  await bench.take('speech.wav')
  const project = bench.folder.file(name)
  await writeFile(project, text(bench.folder.path))
  return project
}

const plan = (project: string) => planTimeline(timelineRequest(project), {})

/** Renders a project with the real melt, without a screen. It ends with 0 on a missing file too: what it says is read. */
async function render(project: string): Promise<string> {
  const output = `${project}.mkv`
  const consumer = ['-consumer', `avformat:${output}`, 'acodec=pcm_s16le', 'vcodec=ffv1', 'real_time=-1']
  const env = { PATH: process.env.PATH, HOME: bench.folder.path, XDG_RUNTIME_DIR: bench.folder.path }
  const { stderr } = await run('melt', [project, ...consumer], { env, maxBuffer: 1 << 26 })
  expect(stderr).not.toMatch(/failed to load|No such file/i)
  return output
}

const picture = (path: string) => ffmpegOutput('-i', path, '-map', '0:v', '-f', 'framemd5', 'pipe:1').then(String)

describe('an MLT project', () => {
  it('of Shotcut plays clips by the clock, fades, and not what is muted', async () => {
    const { sources, notes } = await plan(await projectOf('film.mlt', shotcutProject))
    // 0 to 5; 10 to 25 with 25 to 35 of the fade, and its other side, 40 to 50. Both ends are played.
    expect(sources.map(({ used }) => used)).toEqual([
      [
        { startSample: 0, endSample: 5 * FRAME },
        { startSample: 10 * FRAME, endSample: 35 * FRAME },
        { startSample: 40 * FRAME, endSample: 50 * FRAME },
      ],
    ])
    expect(notes).toEqual([])
  })

  it('of Kdenlive plays originals instead of proxies, warped clips, and no more than the sequence around shows', async () => {
    const { sources, notes } = await plan(await projectOf('film.kdenlive', kdenliveProject))
    expect(Object.fromEntries(sources.map(({ media, used }) => [media.path.split('/').at(-1), used]))).toEqual({
      'timecode.mov': [{ startSample: 20 * FRAME, endSample: 25 * FRAME }],
      'speech.wav': [{ startSample: 10 * FRAME, endSample: 30 * FRAME }],
    })
    expect(notes.map(({ kind }) => kind)).toEqual(['speed'])
  })

  it('of melt plays places that count from where their producer begins', async () => {
    const { sources } = await plan(await projectOf('film.mlt', meltProject))
    expect(Object.fromEntries(sources.map(({ media, used }) => [media.path.split('/').at(-1), used]))).toEqual({
      'speech.wav': [
        { startSample: 15 * FRAME, endSample: 25 * FRAME },
        { startSample: 35 * FRAME, endSample: 40 * FRAME },
      ],
      // Five frames at twice the speed.
      'timecode.mov': [{ startSample: 14 * FRAME, endSample: 24 * FRAME }],
    })
  })

  it.skipIf(!hasMelt)('renders the same picture with another voice, as long as before', async () => {
    bench.answerWith('-af', 'volume=-12dB')
    const project = await projectOf('film.mlt', shotcutProject)
    const outcome = await regenerateTimeline(await plan(project), bench.pipeline.context, { concurrency: 1 })
    expect(outcome.event).toMatchObject({ status: 'done', output: bench.folder.file('film.regen.mlt') })
    const [before, after] = [await render(project), await render(bench.folder.file('film.regen.mlt'))]
    expect(await picture(after)).toBe(await picture(before))
    const [old, made] = [await decodedPcm(before), await decodedPcm(after)]
    expect(made.length).toBe(old.length)
    expect(loudness(made)).toBeLessThan(loudness(old) / 2)
    expect(loudness(made)).toBeGreaterThan(loudness(old) / 8)
  })

  it('with relative paths can be moved with its media, as before', async () => {
    const project = await projectOf('film.mlt', (root) => shotcutProject(root).replace(` root="${root}"`, ''))
    await regenerateTimeline(await plan(project), bench.pipeline.context, { concurrency: 1 })
    const made = await readFile(bench.folder.file('film.regen.mlt'), 'utf8')
    expect(made.match(/(?<=name="resource">)[^<]*mov/g)).toEqual(['timecode.regen.mov', 'timecode.regen.mov'])
  })

  it('names new files elsewhere by where they are', async () => {
    const project = await projectOf('film.mlt', shotcutProject)
    const elsewhere = await planTimeline({ ...timelineRequest(project), output: `${bench.folder.file('new')}/` }, {})
    await regenerateTimeline(elsewhere, bench.pipeline.context, { concurrency: 1 })
    const made = await readFile(bench.folder.file('new/film.regen.mlt'), 'utf8')
    const film = bench.folder.file('new/timecode.regen.mov')
    expect(made.match(/(?<=name="resource">)[^<]*mov/g)).toEqual([film, film])
  })

  it('is relinked wherever the file stands, without what recognises the old one', async () => {
    const project = await projectOf('film.kdenlive', kdenliveProject)
    await regenerateTimeline(await plan(project), bench.pipeline.context, { concurrency: 1 })
    const made = await readFile(bench.folder.file('film.regen.kdenlive'), 'utf8')
    const film = bench.folder.file('timecode.regen.mov')
    const speech = bench.folder.file('speech.regen.wav')
    const lines = (await readFile(project, 'utf8')).split('\n')
    const expected = lines
      .filter((line) => !/file_hash|file_size/.test(line))
      .map((line) => line.replace(/>[^<]*timecode\.mov</, `>${film}<`).replace(/[^>:]*speech\.wav/, speech))
      .map((line) => (/"kdenlive:proxy"/.test(line) ? line.replace(/>.*</, '>-<') : line))
      .map((line) => line.replace(/>.*proxy\/abc\.mkv</, `>${film}<`))
    expect(made.split('\n')).toEqual(expected)
  })
})

/** Root mean square of 32-bit samples. */
function loudness(pcm: Buffer): number {
  let sum = 0
  for (let at = 0; at < pcm.length; at += 4) sum += (pcm.readInt32LE(at) / 2 ** 31) ** 2
  return Math.sqrt(sum / (pcm.length / 4))
}
