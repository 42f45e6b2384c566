import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'
import fc, { anyCharacter } from '../../helpers/properties.js'
import { spooledJobs } from '../../helpers/spooled-jobs.js'

const HOOK = fileURLToPath(new URL('../../../shell/spool-job.sh', import.meta.url))
/** Every shell of this machine that is somebody's /bin/sh. */
const SHELLS = ['/bin/sh', '/bin/dash', '/bin/bash', '/bin/busybox'].filter((path) => existsSync(path))

let folder: TestFolder
let spool: string

beforeEach(async () => {
  folder = await testFolder()
  spool = folder.file('spool')
  await mkdir(spool)
})
afterEach(() => folder.remove())

/** Runs the hook as nginx does: with an empty environment. */
function runHook(args: readonly string[], shell = '/bin/sh') {
  const first = shell.endsWith('busybox') ? ['sh', HOOK] : [HOOK]
  return spawnSync(shell, [...first, ...args], { env: {}, encoding: 'utf8', cwd: folder.path })
}

describe('spool-job.sh', () => {
  it.each(SHELLS)('writes any name as JSON, under %s', (shell) => {
    const awkward = `/srv/a "b"\\c 'd'\n\t\u0001\u001f\u007f $(id) \`id\` * %s%n ünï 日本 🎙️ \\n.flv\n`
    expect(runHook([spool, awkward, '/out "x"/', 'my\\preset'], shell)).toMatchObject({ status: 0, stderr: '' })
    const jobs = readdirSync(spool).map((name) => JSON.parse(readFileSync(`${spool}/${name}`, 'utf8')) as unknown)
    expect(jobs).toEqual([{ input: awkward, output: '/out "x"/', preset: 'my\\preset' }])
  })

  it('writes whatever a file can be called', async () => {
    const name = fc
      .string({ unit: anyCharacter, minLength: 1, maxLength: 60 })
      .filter((text) => !/[\0\ud800-\udfff]/.test(text))
    await fc.assert(
      fc.asyncProperty(name, async (text) => {
        expect(runHook([spool, `/${text}`]).status).toBe(0)
        const [path] = readdirSync(spool).map((entry) => `${spool}/${entry}`)
        expect(JSON.parse(readFileSync(path ?? '', 'utf8'))).toEqual({ input: `/${text}` })
        await folder.remove()
        await mkdir(spool, { recursive: true })
      }),
      { numRuns: process.env.VOXMUX_SOAK ? 2000 : 40 },
    )
  })

  it('makes paths absolute, leaves out what is empty, and lets only its owner change the job', async () => {
    expect(runHook([spool, 'take.flv', '', 'podcast']).status).toBe(0)
    expect(await spooledJobs(spool)).toEqual([{ input: folder.file('take.flv'), preset: 'podcast' }])
    const [name] = readdirSync(spool)
    expect((await stat(`${spool}/${name}`)).mode & 0o777).toBe(0o644)
  })

  it('says what is wrong where nothing can be written, and leaves no half job', async () => {
    const missing = runHook([folder.file('missing'), '/take.flv'])
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('the job for /take.flv is lost') })
    expect(runHook([spool])).toMatchObject({ status: 2, stderr: expect.stringContaining('usage') })
    expect(readdirSync(spool)).toEqual([])
  })
})
