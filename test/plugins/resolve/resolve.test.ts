import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { jobBench } from '../../helpers/job-bench.js'
import { installVoxmux, NO_PYTHON, runHost } from '../../helpers/step-command.js'

if (NO_PYTHON) process.stderr.write(`The script of Resolve is not tested: ${NO_PYTHON}.\n`)

const SCRIPT = fileURLToPath(new URL('../../../plugins/resolve/voxmux_resolve.py', import.meta.url))
const HOST = fileURLToPath(new URL('host.py', import.meta.url))
const bench = jobBench()

describe.skipIf(NO_PYTHON)('the script of DaVinci Resolve', () => {
  /** Plays Resolve over clips, with more in its environment. */
  const play = (clips: readonly string[], env: Readonly<Record<string, string>>) =>
    runHost('/usr/bin/python3', ['-B', HOST, SCRIPT, ...clips], {
      ...bench.server.env,
      VOXMUX_STATE_DIR: bench.folder.file('cli'),
      VOXMUX_COMMAND: installVoxmux(bench.folder.path),
      ...env,
    })

  it('imports the result beside each selected clip, once, and says which was refused', async () => {
    const [good, mute] = [await bench.take('phone.mp4'), await bench.take('no-audio.mp4')]
    const [several, linked] = [await bench.take('two-tracks.mkv'), bench.folder.file('linked.mp4')]
    await symlink(good, linked)
    const clips = [good, mute, several, linked]
    const said = await play(clips, {})
    expect(said).toContain(`${good}: done -> ${bench.folder.file('phone.regen.mp4')}`)
    expect(said).toContain(`${good}: skipped -> ${bench.folder.file('phone.regen.mp4')}`)
    expect(said).toContain(`${linked}: done -> ${bench.folder.file('phone.regen.mp4')}`)
    expect(existsSync(bench.folder.file('linked.regen.mp4'))).toBe(false)
    expect(said).toMatch(/no-audio\.mp4: .*no audio/i)
    expect(said).toMatch(/two-tracks\.mkv: .*`"track": "all"`.*Put such a key into a preset, and set VOXMUX_PRESET/)
    const held: unknown = JSON.parse(/HELD (.*)/.exec(said)?.[1] ?? '')
    expect(held).toEqual({ day: [...clips, bench.folder.file('phone.regen.mp4')], root: 0, atRoot: true })
  })

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['voxmux is not found', { VOXMUX_COMMAND: '/nowhere/voxmux' }, /could not be started.*Set VOXMUX_COMMAND/],
    [
      'something else is started',
      { VOXMUX_COMMAND: '/bin/echo' },
      /a\.mov: \/bin\/echo ended with 0 and did not say why/,
    ],
    [
      'a setting is wrong',
      { VOXMUX_PRESET: 'nonesuch' },
      /a\.mov: The preset "nonesuch" does not exist\. Presets: .*podcast/,
    ],
    ['Resolve is too old', { RESOLVE: '18' }, /Resolve 19\.0\.2 or newer is needed/],
  ])('says what to do where %s', async (_what, env, message) => {
    expect(await play(['/a.mov'], env)).toMatch(message)
  })
})
