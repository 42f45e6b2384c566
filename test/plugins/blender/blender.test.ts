import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { fixture, jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { installVoxmux, runHost } from '../../helpers/step-command.js'

const BLENDER = '/usr/bin/blender'
const NO_BLENDER = existsSync(BLENDER) ? null : `${BLENDER} is not installed (apt-get install blender)`
if (NO_BLENDER) process.stderr.write(`The add-on of Blender is not tested: ${NO_BLENDER}.\n`)

const ADDON = fileURLToPath(new URL('../../../plugins/blender/voxmux_blender.py', import.meta.url))
const EDIT = fileURLToPath(new URL('edit.py', import.meta.url))
const bench = jobBench()

describe.skipIf(NO_BLENDER)('the add-on, in a real Blender', () => {
  it('lays the regenerated sound over the same frames, once, with its fades, and mutes the old', async () => {
    // It ends within a frame: Blender counts that frame in for the one strip and not for the other.
    const sound = bench.folder.file('speech.wav')
    await ffmpeg('-i', fixture('speech.wav'), '-t', '2.505', '-c:a', 'copy', sound)
    // Blender writes its own settings into HOME.
    const env = { ...bench.server.env, VOXMUX_STATE_DIR: bench.folder.file('cli'), HOME: bench.folder.path }
    const command = installVoxmux(bench.folder.path)
    const said = await runHost(BLENDER, ['-b', '--factory-startup', '--python', EDIT, '--', ADDON, command, sound], env)
    const told = JSON.parse(/STRIPS (.*)/.exec(said)?.[1] ?? said) as Told
    expect(told.ended).toEqual([
      ['FINISHED'],
      ['FINISHED'],
      expect.stringMatching(
        /^Error: (take, pickup|pickup, take): The preset "nonesuch" does not exist\. Presets: .*podcast/,
      ),
    ])
    const [take, pickup] = ['take', 'pickup'].map((name) => told.strips.find((strip) => strip.name === name))
    expect(take).toMatchObject({ file: sound, channel: 2, start: 15, end: 30, mute: true, speed: 1.25 })
    expect(pickup).toMatchObject({ file: '//speech.wav' })
    const fresh = { file: bench.folder.file('speech.regen.wav'), mute: false }
    // The first channel that is free above: over the one there is music, over the other there is none.
    expect(told.strips).toHaveLength(5)
    expect(told.strips).toContainEqual({ ...take, ...fresh, name: 'take.regen', channel: 4 })
    expect(told.strips).toContainEqual({
      ...pickup,
      ...fresh,
      file: '//speech.regen.wav',
      name: 'pickup.regen',
      channel: 3,
    })
    expect(told.curves).toHaveLength(2)
    expect(told.curves[1]).toEqual(told.curves[0])
  })
})

/** What edit.py prints. */
interface Told {
  readonly ended: readonly unknown[]
  readonly curves: readonly (readonly number[])[]
  readonly strips: readonly Readonly<Record<string, unknown>>[]
}
