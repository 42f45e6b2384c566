import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { jobBench } from '../../helpers/job-bench.js'
import { ffprobeJson } from '../../helpers/media-factory.js'
import { installVoxmux, NO_PYTHON, runHost } from '../../helpers/step-command.js'

const path = (name: string) => fileURLToPath(new URL(`../../../plugins/unmanic/${name}`, import.meta.url))
const HOST = fileURLToPath(new URL('host.py', import.meta.url))

const bench = jobBench()

async function runPlugin(input: string, output: string) {
  installVoxmux(bench.folder.path)
  const PATH = `${bench.folder.path}:/usr/bin:/bin`
  const env = { ...bench.server.env, PATH, VOXMUX_STATE_DIR: bench.folder.file('cli') }
  return JSON.parse(await runHost('/usr/bin/python3', ['-B', HOST, path('plugin.py'), '{}', input, output], env))
}

if (NO_PYTHON) process.stderr.write(`The plugin of Unmanic is not tested: ${NO_PYTHON}.\n`)

describe.skipIf(NO_PYTHON)('the plugin of Unmanic', () => {
  it('adds the track once, and leaves out files that have it or have no sound', async () => {
    const output = bench.folder.file('WORKING-phone.mp4')
    const added = await runPlugin(await bench.take('phone.mp4'), output)
    expect(added).toMatchObject({ before: [true, []], work: { ran: true, code: 0, percent: '100' } })
    expect(added.after).toEqual([false, ['voxmux']])
    const { streams } = (await ffprobeJson(output, '-show_streams', '-select_streams', 'a')) as { streams: object[] }
    expect(streams).toMatchObject([{ disposition: { default: 1 } }, { tags: { handler_name: 'Clear dialogue' } }])
    expect((await runPlugin(output, bench.folder.file('again.mp4'))).work).toEqual({ ran: false })
    const mute = await runPlugin(await bench.take('no-audio.mp4'), bench.folder.file('mute.mp4'))
    expect(mute).toMatchObject({ before: [false, []], work: { ran: true, code: 5 } })
    expect(bench.server.charges).toBe(1)
  })

  it('is described as Unmanic wants it, with runners that exist', () => {
    const info = JSON.parse(readFileSync(path('info.json'), 'utf8'))
    expect(info).toMatchObject({ id: 'voxmux_clear_dialogue', compatibility: [2], version: expect.any(String) })
    const script = readFileSync(path('plugin.py'), 'utf8')
    for (const runner of Object.keys(info.priorities)) expect(script).toContain(`def ${runner}(data):`)
  })
})
