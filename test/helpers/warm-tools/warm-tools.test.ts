import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openWorkshop } from '../workshop.js'

const isWarm = process.env.WARM_TOOLS !== undefined
const SILENCE = ['-v', 'error', '-nostdin', '-f', 'lavfi', '-i', 'anullsrc=r=8000']

describe.skipIf(!isWarm)('a call of a warm tool (Linux with a compiler, no soak)', () => {
  it('runs where it was called, with its limits and input, and hands over what it prints and how it ends', () => {
    const shop = openWorkshop()
    mkdirSync(shop.path('here'))
    const said = spawnSync('ffmpeg', [...SILENCE, '-t', '1', 'made.wav'], { cwd: shop.path('here') })
    expect([said.status, `${said.stderr}`]).toEqual([0, ''])
    expect(shop.inventory().join()).toContain('media/here/made.wav')
    const input = Buffer.alloc(16_000)
    const raw = ['-v', 'error', '-f', 's16le', '-ar', '8000', '-i', 'pipe:0', '-f', 's16le', 'pipe:1']
    expect(spawnSync('ffmpeg', raw, { input }).stdout.equals(input)).toBe(true)
    const missing = spawnSync('ffprobe', ['-v', 'error', 'absent.wav'], { cwd: shop.dir, encoding: 'utf8' })
    expect(missing).toMatchObject({ status: 1, stderr: 'absent.wav: No such file or directory\n' })
    const limited = ['-c', `ulimit -f 8; exec ffmpeg ${SILENCE.join(' ')} -t 60 -y limited.wav`]
    expect(spawnSync('sh', limited, { cwd: shop.dir }).signal).toBe('SIGXFSZ')
    shop.remove()
  })

  /** One that has begun and does not end by itself. */
  async function begun(env: NodeJS.ProcessEnv = {}) {
    const [level, quiet, ...rest] = SILENCE
    const args = [level, quiet, '-re', ...rest, '-progress', 'pipe:1', '-f', 'null', '-'] as string[]
    const child = spawn('ffmpeg', args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
    await once(child.stdout, 'data')
    return child
  }

  it.each(['SIGTERM', 'SIGKILL'] as const)('ends with %s', async (signal) => {
    const child = await begun()
    child.kill(signal)
    // The pipe closes with the last process that holds it.
    await once(child, 'close')
    expect([child.exitCode, child.signalCode]).toEqual(signal === 'SIGTERM' ? [255, null] : [null, 'SIGKILL'])
  })

  it('becomes the tool itself if it is called with other libraries', async () => {
    const program = async (env?: NodeJS.ProcessEnv) => {
      const child = await begun(env)
      const path = readlinkSync(`/proc/${child.pid}/exe`)
      child.kill('SIGKILL')
      return path
    }
    expect(await program()).toBe(`${process.env.WARM_TOOLS}/ffmpeg`)
    expect(await program({ LD_LIBRARY_PATH: '/nowhere' })).not.toContain(process.env.WARM_TOOLS)
  })
})
