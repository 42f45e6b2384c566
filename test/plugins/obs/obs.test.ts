import { mkdir, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'
import { spooledJobs } from '../../helpers/spooled-jobs.js'
import { NO_PYTHON, runHost } from '../../helpers/step-command.js'

const SCRIPT = fileURLToPath(new URL('../../../plugins/obs/voxmux_obs.py', import.meta.url))
const HOST = fileURLToPath(new URL('host.py', import.meta.url))

let folder: TestFolder
beforeEach(async () => {
  folder = await testFolder()
})
afterEach(() => folder.remove())

async function stopRecording(settings: Readonly<Record<string, string>>, recording: string) {
  const args = ['-B', HOST, SCRIPT, JSON.stringify(settings), recording]
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
    const host = await stopRecording({ spool, output: '/finished', preset: 'podcast' }, recording)
    expect(await spooledJobs(spool)).toEqual([{ input: recording, output: '/finished/', preset: 'podcast' }])
    expect(await readdir(spool)).toHaveLength(1)
    expect(host).toMatchObject({ settings: ['spool', 'output', 'preset'], log: [[300, `voxmux: queued ${recording}`]] })
    expect(host.callbacks).toBe(0)
  })

  it('says what is wrong where there is no spool folder', async () => {
    const unset = await stopRecording({}, '/a.mkv')
    expect(unset.log).toEqual([[200, expect.stringContaining('no spool folder is set')]])
    const missing = await stopRecording({ spool: folder.file('none') }, '/a.mkv')
    expect(missing.log).toEqual([[100, expect.stringContaining('/a.mkv is not queued')]])
  })
})
