import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { jobBench } from '../../helpers/job-bench.js'
import { installVoxmux, runHost } from '../../helpers/step-command.js'

const BLENDER = '/usr/bin/blender'
const NO_BLENDER = existsSync(BLENDER) ? null : `${BLENDER} is not installed (apt-get install blender)`
if (NO_BLENDER) process.stderr.write(`The add-on of Blender is not tested: ${NO_BLENDER}.\n`)

const ADDON = fileURLToPath(new URL('../../../plugins/blender/voxmux_blender.py', import.meta.url))
const EDIT = fileURLToPath(new URL('edit.py', import.meta.url))
const bench = jobBench()

describe.skipIf(NO_BLENDER)('the add-on, in a real Blender', () => {
  it('lays the regenerated sound over the same frames and mutes the old', async () => {
    const sound = await bench.take('speech.wav')
    // Blender writes its own settings into HOME.
    const env = { ...bench.server.env, VOXMUX_STATE_DIR: bench.folder.file('cli'), HOME: bench.folder.path }
    const command = installVoxmux(bench.folder.path)
    const said = await runHost(BLENDER, ['-b', '--factory-startup', '--python', EDIT, '--', ADDON, command, sound], env)
    const { ended, strips } = JSON.parse(/STRIPS (.*)/.exec(said)?.[1] ?? said) as { ended: string[]; strips: object[] }
    expect(ended).toEqual(['FINISHED'])
    expect(strips).toHaveLength(2)
    const [old, fresh] = strips
    expect(old).toMatchObject({ name: 'take', file: sound, channel: 2, start: 15, mute: true })
    expect(fresh).toEqual({
      ...old,
      name: 'take.regen',
      file: bench.folder.file('speech.regen.wav'),
      channel: 3,
      mute: false,
    })
  })
})
