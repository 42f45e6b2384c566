import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { testFolder } from '../helpers/media-factory.js'
import { runCli } from '../helpers/voxmux-cli.js'

const OWN_MOUNTS = ['--user', '--map-root-user', '--mount']
const canMount = spawnSync('unshare', [...OWN_MOUNTS, 'mount', '--bind', '/tmp', '/tmp']).status === 0
/** Hides the tools of the system from the command. */
const hidden = ['/usr/bin', '/usr/local/bin']
  .flatMap((folder) => ['ffmpeg', 'ffprobe'].map((tool) => `${folder}/${tool}`))
  .filter((path) => existsSync(path))
const hide = [...hidden.map((path) => `mount --bind /dev/null ${path}`), 'exec "$@"'].join(' && ')

it.skipIf(!canMount)('offers one command if the first run finds no ffmpeg (needs mounts of its own)', async () => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  const before = readdirSync(folder.path)
  const env = { PATH: '', VOXMUX_FFMPEG: '', VOXMUX_FFPROBE: '', VOXMUX_STATE_DIR: folder.file('state') }
  const through = ['/usr/bin/unshare', ...OWN_MOUNTS, '/bin/sh', '-c', `PATH=/usr/bin:/bin; ${hide}`, 'sh']
  const { exitCode, stderr } = await runCli(['fixtures/speech.wav', '-o', folder.file('out.wav')], {
    ...{ cwd: process.cwd(), env, through },
  })
  expect(stderr).toMatch(/found no working ff(mpeg|probe) \(version 5\.1 or newer\)/)
  expect(stderr).toContain('Run `voxmux doctor --install` to get ffmpeg from the package manager of this system.')
  expect(exitCode).toBe(2)
  expect(readdirSync(folder.path)).toEqual([...before, 'state'])
})

it.each(['VOXMUX_FFMPEG', 'VOXMUX_FFPROBE'])('offers no installation if %s names something else', async (name) => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  const env = { [name]: process.execPath, VOXMUX_STATE_DIR: folder.file('state') }
  const { exitCode, stdout } = await runCli(['check', 'fixtures/speech.wav'], { cwd: process.cwd(), env })
  expect(stdout).toMatch(/is not a working ff\w+\.\n/)
  expect(stdout).toContain(`Set ${name} to the path of one, or unset it`)
  expect(stdout).not.toContain('--install')
  expect(exitCode).toBe(2)
})
