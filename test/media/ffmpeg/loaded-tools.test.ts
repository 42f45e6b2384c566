import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const TOOLS = process.env.LOADED_TOOLS ?? ''
const FFMPEG = join(TOOLS, 'ffmpeg')
const SILENCE = ['-v', 'error', '-f', 's16le', '-ar', '8000', '-ac', '1']

describe.skipIf(!TOOLS)('an ffmpeg that a server forks (needs Linux and cc, and no VOXMUX_FFMPEG)', () => {
  const folder = folderOfTests()

  it('has the arguments, the working directory, the streams and the exit code of its launcher', () => {
    const made = spawnSync(FFMPEG, [...SILENCE, '-i', 'pipe:0', '-c', 'copy', '-f', 'wav', 'made here.wav'], {
      cwd: folder.path,
      input: Buffer.alloc(16_000, 1),
    })
    expect(made).toMatchObject({ status: 0, signal: null })
    expect(readFileSync(folder.file('made here.wav')).subarray(-16_000).equals(Buffer.alloc(16_000, 1))).toBe(true)
    const missing = spawnSync(FFMPEG, ['-v', 'error', '-i', 'missing.wav'], { cwd: folder.path, encoding: 'utf8' })
    expect(missing.status).toBe(1)
    expect(missing.stderr).toContain('missing.wav: No such file or directory')
  })

  it('has the environment and the limits of its launcher', () => {
    const report = folder.file('report.log')
    const env = { FFREPORT: `file=${report}` }
    expect(spawnSync(FFMPEG, ['-version'], { env })).toMatchObject({ status: 0 })
    expect(readFileSync(report, 'utf8')).toContain('ffmpeg')
    mkdirSync(folder.file('limited'))
    const args = ['--fsize=1000', FFMPEG, ...SILENCE, '-i', '/dev/zero', '-t', '10', folder.file('limited/long.wav')]
    expect(spawnSync('prlimit', args)).toMatchObject({ status: null, signal: 'SIGXFSZ' })
  })

  it.each([
    ['SIGTERM', 255],
    ['SIGKILL', null],
  ] as const)('ends with its launcher: %s', async (signal, exitCode) => {
    const launcher = spawn(FFMPEG, [...SILENCE, '-re', '-i', '/dev/zero', '-progress', 'pipe:1', '-f', 'null', '-'])
    await once(launcher.stdout, 'data')
    launcher.kill(signal)
    const [code] = await once(launcher, 'close')
    expect(code).toBe(exitCode)
  })
})
