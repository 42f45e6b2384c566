import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { spooledJobs } from '../../helpers/spooled-jobs.js'
import { NO_PYTHON, runHost } from '../../helpers/step-command.js'
import { folderOfEachTest } from '../../helpers/system/folder-of-tests.js'

const SCRIPT = fileURLToPath(new URL('../../../plugins/obs/voxmux_obs.py', import.meta.url))
const HOST = fileURLToPath(new URL('host.py', import.meta.url))

const folder = folderOfEachTest()

async function record(settings: Readonly<Record<string, string>>, recording: string, ...how: 'closed'[]) {
  const args = ['-B', HOST, SCRIPT, JSON.stringify(settings), recording, ...how]
  return JSON.parse(await runHost('/usr/bin/python3', args, {})) as {
    settings: string[]
    log: [number, string][]
    callbacks: number
  }
}

if (NO_PYTHON) process.stderr.write(`The script of OBS is not tested: ${NO_PYTHON}.\n`)

describe.skipIf(NO_PYTHON)('the script of OBS', () => {
  it('queues a recording when it is stopped, whatever its name', async () => {
    const spool = folder.file('spool')
    await mkdir(spool)
    const recording = '/videos/2026-01-02 "Größe" \\n.mkv'
    const host = await record({ spool, output: '/finished', preset: 'podcast' }, recording)
    expect(await spooledJobs(spool)).toEqual([{ input: recording, output: '/finished/', preset: 'podcast' }])
    expect(await readdir(spool)).toHaveLength(1)
    expect(host).toMatchObject({ settings: ['spool', 'output', 'preset'], log: [[300, `voxmux: queued ${recording}`]] })
    expect(host.callbacks).toBe(0)
  })

  it('queues a recording that an OBS was closed in, when OBS starts again and nobody writes it any more', async () => {
    const [spool, left, next] = [folder.file('spool'), folder.file('my film.mkv'), folder.file('next.mkv')]
    await mkdir(spool)
    await writeFile(left, '')
    await record({ spool, preset: 'podcast' }, left, 'closed')
    expect(await spooledJobs(spool)).toEqual([])
    // Another OBS may still write it.
    await record({ spool }, next)
    expect(await spooledJobs(spool)).toEqual([{ input: next }])
    await utimes(left, 0, 0)
    const { log } = await record({ spool }, next)
    const jobs = await spooledJobs(spool)
    expect(jobs).toHaveLength(3)
    expect(jobs).toContainEqual({ input: left, preset: 'podcast' })
    expect(log[0]).toEqual([300, `voxmux: queued ${left}, which an earlier OBS left`])
    expect(await readdir(spool)).toHaveLength(3)
  })

  it('says what is wrong where there is no spool folder', async () => {
    const unset = await record({}, '/a.mkv')
    expect(unset.log).toEqual([[200, expect.stringContaining('no spool folder is set')]])
    const missing = await record({ spool: folder.file('none') }, '/a.mkv')
    expect(missing.log).toEqual([
      [100, expect.stringContaining('/a.mkv cannot be queued')],
      [100, expect.stringContaining('/a.mkv is not queued')],
    ])
  })
})
