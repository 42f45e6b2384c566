import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fixture } from '../../helpers/job-bench.js'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'
import { spooledJobs, waitForJobs } from '../../helpers/spooled-jobs.js'
import { hooksOf, MediaMtxStub } from './mediamtx-stub.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const SCRIPTS = ['created', 'complete'].map((name) => join(ROOT, `plugins/mediamtx/segment-${name}.sh`))
const CLIP = fixture('interview.mp4')

let folder: TestFolder
let spool: string
let server: (path: string, output?: string) => MediaMtxStub

beforeEach(async () => {
  folder = await testFolder()
  spool = folder.file('spool')
  const scripts = folder.file('voxmux')
  for (const path of [spool, scripts]) await mkdir(path)
  // Side by side in one folder, as the README installs them.
  const files = [...SCRIPTS, join(ROOT, 'plugins/mediamtx/sweep-segments.sh'), join(ROOT, 'shell/spool-job.sh')]
  for (const file of files) await copyFile(file, join(scripts, basename(file)))
  server = (path, output = `${folder.file('finished')}/`) =>
    new MediaMtxStub(path, folder.path, hooksOf(scripts, spool, output))
})
afterEach(() => folder.remove())

const segmentOf = (path: string, name: string) => folder.file(`recordings/${path}/${name}`)
const jobOf = (input: string) => ({ input, output: `${folder.file('finished')}/` })
const inputs = async () => (await spooledJobs(spool)).map((job) => (job as { input: string }).input).sort()

describe('the hooks of MediaMTX', () => {
  it('queue a segment once it is whole, and not before', async () => {
    const cam = server('studio/cam1')
    const segment = segmentOf('studio/cam1', `2026-01-02_10-00-00 "a"\\'b' ü $HOME.mp4`)
    expect(await cam.create(segment, CLIP)).toBe(0)
    expect(await spooledJobs(spool)).toEqual([])
    expect(await cam.complete(segment)).toBe(0)
    expect(await spooledJobs(spool)).toEqual([jobOf(segment)])
  })

  it('queue a segment whose beginning was not announced, or whose name leads elsewhere', async () => {
    const [plain, odd] = [segmentOf('cam', 'plain.mp4'), folder.file('recordings/../recordings/odd.mp4')]
    expect(await server('cam').complete(plain)).toBe(0)
    expect(await server('../../cam').create(odd, CLIP)).toBe(0)
    expect(await server('../../cam').complete(odd)).toBe(0)
    expect(await inputs()).toEqual([odd, plain].sort())
    expect((await readdir(folder.path)).sort()).toEqual(['recordings', 'spool', 'voxmux'])
  })

  it('take a folder with spaces in quotes, and one for each path by its variable', async () => {
    const output = `"${folder.file('my finished')}/$MTX_PATH/"`
    const [begun, plain] = [segmentOf('studio/cam1', '1.mp4'), segmentOf('studio/cam1', '2.mp4')]
    const cam = server('studio/cam1', output)
    expect(await cam.create(begun, CLIP)).toBe(0)
    expect(await cam.complete(begun)).toBe(0)
    expect(await cam.complete(plain)).toBe(0)
    const jobs = (await spooledJobs(spool)) as { output: string }[]
    expect(jobs.map((job) => job.output)).toEqual(Array(2).fill(folder.file('my finished/studio/cam1/')))
  })

  it('refuse an output folder that the name of a path leads out of', async () => {
    const output = `${folder.file('finished')}/$MTX_PATH/`
    const [cam, dots] = [server('../../etc', output), server('a..b', output)]
    expect(await cam.complete(segmentOf('cam', '1.mp4'))).toBe(1)
    expect(cam.log).toMatch(/path name \.\.\/\.\.\/etc leads out of the output folder: .*1\.mp4 is not queued/)
    expect(await dots.complete(segmentOf('a..b', '2.mp4'))).toBe(0)
    expect(await inputs()).toEqual([segmentOf('a..b', '2.mp4')])
  })

  it('say in the log of the server where nothing can be queued', async () => {
    await rm(spool, { recursive: true })
    const cam = server('cam')
    expect(await cam.complete(segmentOf('cam', '1.mp4'))).toBe(1)
    expect(cam.log).toMatch(/cannot write into .*spool: the job for .*1\.mp4 is lost/)
  })

  it('queue a relative recordPath as the absolute one that it is', async () => {
    expect(await server('cam').create('./recordings/cam/a.mp4', CLIP)).toBe(0)
    expect(await server('cam').complete('./recordings/cam/a.mp4')).toBe(0)
    expect(await inputs()).toEqual([`${folder.path}/./recordings/cam/a.mp4`])
  })
})

describe('the sweep after a crash', () => {
  it('queues what was begun and never reported, once, of its own path alone', async () => {
    const [cam, other] = [server('cam'), server('other')]
    const [first, second, empty] = [segmentOf('cam', '1.mp4'), segmentOf('cam', '2.mp4'), segmentOf('cam', '3.mp4')]
    const [inSub, inOther] = [segmentOf('cam/sub', '1.mp4'), segmentOf('other', '1.mp4')]
    await cam.create(first, CLIP)
    await cam.complete(first)
    await cam.create(second, CLIP)
    await cam.create(empty, '/dev/null')
    await server('cam/sub').create(inSub, CLIP)
    await other.create(inOther, CLIP)
    // Here MediaMTX is killed; it comes up again, and `other` is already recording when `cam` is swept.
    expect(await cam.init()).toBe(0)
    expect(await inputs()).toEqual([first, second])
    expect(await cam.init()).toBe(0)
    expect(await inputs()).toEqual([first, second])
    expect(cam.log).toBe('')
    await other.complete(inOther)
    expect(await inputs()).toEqual([first, second, inOther].sort())
  })

  it('loses nothing where many paths come up at once', async () => {
    const paths = Array.from({ length: 40 }, (_, index) => `cam${index}${index % 2 ? '/sub' : ''}`)
    const cams = paths.map((path) => server(path))
    for (const [index, cam] of cams.entries()) await cam.create(segmentOf(paths[index] ?? '', '1.mp4'), CLIP)
    expect(new Set(await Promise.all(cams.map((cam) => cam.init())))).toEqual(new Set([0]))
    expect(await inputs()).toEqual(paths.map((path) => segmentOf(path, '1.mp4')).sort())
    expect(cams.map((cam) => cam.log).join('')).toBe('')
  })

  it('queues a segment that is away, for the worker to say so', async () => {
    const segment = segmentOf('cam', '1.mp4')
    await server('cam').create(segment, CLIP)
    await rm(segment)
    expect(await server('cam').init()).toBe(0)
    expect(await inputs()).toEqual([segment])
  })

  it('sweeps every path where no path is named, and takes up a sweep that was killed', async () => {
    const [one, two] = [segmentOf('a', '1.mp4'), segmentOf('b/c', '1.mp4')]
    await server('a').create(one, CLIP)
    await server('b/c').create(two, CLIP)
    const killed = join(spool, '.swept/d/+killed', segmentOf('d', '1.mp4'))
    await mkdir(killed, { recursive: true })
    await writeFile(join(killed, 'x.json'), JSON.stringify(jobOf(one)))
    await mkdir(segmentOf('d', ''), { recursive: true })
    await copyFile(CLIP, segmentOf('d', '1.mp4'))
    expect(await server('').init()).toBe(0)
    expect(await waitForJobs(spool, 3)).toHaveLength(3)
    expect(await readdir(spool).then((names) => names.filter((name) => name.startsWith('.')))).toEqual([])
  })
})
