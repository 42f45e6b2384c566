import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { fixture, jobBench } from '../../helpers/job-bench.js'
import { runHost } from '../../helpers/step-command.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const HOST = fileURLToPath(new URL('host.cjs', import.meta.url))
const MODULE = 'voxmux/plugins/nexrender'

const bench = jobBench()

// nexrender and the built voxmux side by side, as npm installs them.
beforeEach(async () => {
  await mkdir(bench.folder.file('node_modules'))
  await symlink(ROOT, bench.folder.file('node_modules/voxmux'))
  await copyFile(HOST, bench.folder.file('host.cjs'))
})

async function postrender(actions: readonly object[], type = 'postrender') {
  const output = await bench.take('phone.mp4')
  const job = { uid: 'job1', workpath: bench.folder.path, output, type, actions: { postrender: actions } }
  const env = { ...bench.server.env, VOXMUX_STATE_DIR: bench.folder.file('render') }
  const said = await runHost(process.execPath, [bench.folder.file('host.cjs'), JSON.stringify(job)], env)
  return JSON.parse(said) as { output: string; log: string[]; error: { code?: string; message: string } | null }
}

describe('the postrender action of nexrender', () => {
  it('regenerates the render and hands the new file on to the next action', async () => {
    const { output, log, error } = await postrender([{ module: MODULE, preset: 'transparent', output: 'final.mp4' }])
    expect(error).toBeNull()
    expect(output).toBe(bench.folder.file('final.mp4'))
    expect(log.at(-1)).toBe(`[job1] voxmux: done ${output}`)
    expect(bench.server.charges).toBe(1)
  })

  it('leaves the render alone where it is given a file of its own, relative to the work folder', async () => {
    await bench.take('speech.wav')
    const { output, error } = await postrender([{ module: MODULE, input: 'speech.wav' }])
    expect(error).toBeNull()
    expect(output).toBe(bench.folder.file('phone.mp4'))
  })

  it('takes an address as it is, and puts its file into the work folder', async () => {
    const films = createServer((_, response) => createReadStream(fixture('phone.mp4')).pipe(response))
    await once(films.listen(0, '127.0.0.1'), 'listening')
    const { port } = films.address() as AddressInfo
    const { error, log } = await postrender([{ module: MODULE, input: `http://127.0.0.1:${port}/film.mp4` }])
    films.close()
    expect(error).toBeNull()
    expect(log.at(-1)).toBe(`[job1] voxmux: done ${bench.folder.file('film.regen.mp4')}`)
  })

  it('fails the job with a typed error where it is wrong', async () => {
    expect((await postrender([{ module: MODULE, presett: 'podcast' }])).error?.code).toMatch(/^ERR_/)
    expect((await postrender([{ module: MODULE }], 'prerender')).error?.message).toContain('for postrender')
  })
})
