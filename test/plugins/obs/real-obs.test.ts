import { mkdir, readdir, utimes } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ffprobeJson, testFolder } from '../../helpers/media-factory.js'
import { spooledJobs } from '../../helpers/spooled-jobs.js'
import { until } from '../../helpers/until.js'
import { NO_OBS, startObs } from './obs-studio.js'

const SCRIPT = fileURLToPath(new URL('../../../plugins/obs/voxmux_obs.py', import.meta.url))

if (NO_OBS) process.stderr.write(`A real OBS Studio is not tested: ${NO_OBS}.\n`)

describe.skipIf(NO_OBS)('the script in a real OBS Studio', () => {
  it('queues each recording, and each part of a split one, once, when it is whole', async () => {
    const folder = await testFolder()
    onTestFinished(() => folder.remove())
    const spool = folder.file('spool')
    await mkdir(spool)
    const obs = await startObs(folder.path, { path: SCRIPT, settings: { spool } })
    const count = async () => (await obs.recordings()).length
    const queued = async () => (await spooledJobs(spool)).length

    await obs.press('start')
    await until(async () => (await count()) === 1)
    await obs.press('split')
    await until(async () => (await count()) === 2 && (await queued()) === 1)
    const [part = ''] = await obs.recordings()
    expect(await spooledJobs(spool)).toEqual([{ input: part }])
    // Only a file that was ended says how long it is.
    expect(await ffprobeJson(part, '-show_format')).toMatchObject({ format: { duration: expect.any(String) } })
    await obs.press('stop')
    await until(async () => (await queued()) === 2)
    await obs.press('start')
    await until(async () => (await count()) === 3)
    await obs.press('stop')
    await until(async () => (await queued()) === 3)

    const recordings = await obs.recordings()
    const jobs = (await spooledJobs(spool)) as readonly { input: string }[]
    expect(jobs.map(({ input }) => input).sort()).toEqual(recordings)
    // The line follows the job.
    await until(async () => (await obs.saidBy('voxmux_obs.py')).length === 3)
    const said = await obs.saidBy('voxmux_obs.py')
    expect([...said].sort()).toEqual(recordings.map((path) => `voxmux: queued ${path}`))
  }, 120_000)

  it('queues a recording that OBS crashed in, when OBS starts again', async () => {
    const folder = await testFolder()
    onTestFinished(() => folder.remove())
    const spool = folder.file('spool')
    await mkdir(spool)
    const obs = await startObs(folder.path, { path: SCRIPT, settings: { spool } })
    await obs.press('start')
    await until(async () => (await readdir(spool)).some((name) => name.endsWith('.recording')))
    await until(async () => (await obs.recordings()).length === 1)
    const [recording = ''] = await obs.recordings()
    await obs.crash()
    expect(await spooledJobs(spool)).toEqual([])
    await utimes(recording, 0, 0)
    await until(async () => (await spooledJobs(spool)).length === 1)
    expect(await spooledJobs(spool)).toEqual([{ input: recording }])
    await until(async () => (await obs.saidBy('voxmux_obs.py')).length === 1)
    expect(await obs.saidBy('voxmux_obs.py')).toEqual([`voxmux: queued ${recording}, which an earlier OBS left`])
  }, 120_000)
})
