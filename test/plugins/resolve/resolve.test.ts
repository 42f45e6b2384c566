import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { jobBench } from '../../helpers/job-bench.js'
import { installVoxmux, NO_PYTHON, runHost } from '../../helpers/step-command.js'

if (NO_PYTHON) process.stderr.write(`The script of Resolve is not tested: ${NO_PYTHON}.\n`)

const SCRIPT = fileURLToPath(new URL('../../../plugins/resolve/voxmux_resolve.py', import.meta.url))
const HOST = fileURLToPath(new URL('host.py', import.meta.url))
const bench = jobBench()

describe.skipIf(NO_PYTHON)('the script of DaVinci Resolve', () => {
  it('imports the result beside each selected clip, and says which was refused', async () => {
    const [good, mute] = [await bench.take('interview.mp4'), await bench.take('no-audio.mp4')]
    const env = {
      ...bench.server.env,
      VOXMUX_STATE_DIR: bench.folder.file('cli'),
      VOXMUX_COMMAND: installVoxmux(bench.folder.path),
    }
    const said = await runHost('/usr/bin/python3', ['-B', HOST, SCRIPT, good, mute], env)
    expect(said).toContain(`${good}: done -> ${bench.folder.file('interview.regen.mp4')}`)
    expect(said).toMatch(/no-audio\.mp4: .*no audio/i)
    const held: unknown = JSON.parse(/HELD (.*)/.exec(said)?.[1] ?? '')
    expect(held).toEqual({ day: [good, mute, bench.folder.file('interview.regen.mp4')], root: 0, atRoot: true })
  })

  it('says how to name voxmux where it is not found', async () => {
    const said = await runHost('/usr/bin/python3', ['-B', HOST, SCRIPT, '/a.mov'], {
      VOXMUX_COMMAND: '/nowhere/voxmux',
    })
    expect(said).toMatch(/could not be started.*Set VOXMUX_COMMAND/)
  })
})
