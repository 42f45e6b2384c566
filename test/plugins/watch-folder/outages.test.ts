import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { NO_MOUNTS } from '../../helpers/system/mount-space.js'
import { until } from '../../helpers/until.js'
import { eventsOf, type RunningCli } from '../../helpers/voxmux-cli.js'
import { filesBelow, watchBench } from './watch-bench.js'

/** In a namespace of its own the daemon sees its folder of outputs through a mount, which a test can close. */
const THROUGH_A_MOUNT = [
  ...['unshare', '--user', '--map-root-user', '--mount'],
  ...['sh', '-c', 'mount --bind out out && exec "$@"', 'sh'],
]
const NO_MOUNT =
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '--bind', '/tmp', '/tmp']).status === 0
    ? null
    : 'no mounts in a user namespace'

/** Several starts of the daemon, on a machine that has other tests to run. */
const LONG_MS = 120_000
const SERVICE_DOWN = { kind: 'status', status: 503 } as const

describe('a daemon whose folders fail it', () => {
  const bench = watchBench()
  const out = (name = '.') => join(bench.workshop.path('out'), name)
  const isPublished = (name: string) => existsSync(out(`${name}.voxmux.json`))

  /** Makes the daemon's mount of its outputs read-only, or writable again. */
  const remount = ({ child }: RunningCli, mode: 'ro' | 'rw') =>
    execFileSync('nsenter', [
      ...['-t', String(child.pid), '--user', '--mount', '--preserve-credentials'],
      ...['mount', '-o', `remount,bind,${mode}`, out()],
    ])
  const expectOnce = (...names: readonly string[]) => {
    expect(filesBelow(out())).toEqual(names.flatMap((name) => [name, `${name}.voxmux.json`]))
    expect(bench.server.charges).toBe(names.length)
    expect(bench.names('failed')).toEqual([])
  }

  it('pays for nothing again where its whole state is lost: receipts say what is done', {
    timeout: LONG_MS,
  }, async () => {
    const names = ['a.wav', 'day 2/c.wav']
    mkdirSync(bench.file('day 2'))
    for (const [index, name] of names.entries()) writeFileSync(bench.file(name), tinyWave(index))
    expect((await bench.watch('--once', '--out', 'out').ended).exitCode).toBe(0)
    expectOnce(...names)
    const made = names.map((name) => statSync(out(name)).ino)
    const { calls } = bench.server
    const asked = { ...calls }
    rmSync(bench.workshop.env.VOXMUX_STATE_DIR ?? '', { recursive: true })
    const result = await bench.watch('--once', '--out', 'out').ended
    expect(result.exitCode, result.stderr).toBe(0)
    expect(eventsOf(result).at(-1)).toMatchObject({ event: 'result', skipped: 2, done: 0, failed: 0 })
    expect(names.map((name) => statSync(out(name)).ino)).toEqual(made)
    expectOnce(...names)
    for (const operation of ['registerFile', 'upload', 'startProcess'] as const)
      expect(calls[operation]).toBe(asked[operation])
    // And from now on they are known.
    expect(eventsOf(await bench.watch('--once', '--out', 'out').ended).at(-1)).toMatchObject({ skipped: 0, done: 0 })
  })

  it.skipIf(NO_MOUNT)(
    `waits for a read-only output before it pays, and keeps what is paid for${NO_MOUNT ? ` (skipped: ${NO_MOUNT})` : ''}`,
    { timeout: LONG_MS },
    async () => {
      mkdirSync(out())
      const daemon = bench.watchThrough(THROUGH_A_MOUNT, '--out', 'out')
      await daemon.until(/"event":"watching"/)
      remount(daemon, 'ro')
      writeFileSync(bench.file('early.wav'), tinyWave(1))
      await daemon.until(/early\.wav will be retried: Cannot write into the folder/)
      expect(bench.server.calls.registerFile).toBe(0)
      remount(daemon, 'rw')
      await until(() => isPublished('early.wav'))

      // Closed once more when the second is paid for and on its way back.
      bench.server.fail('download', SERVICE_DOWN, Number.POSITIVE_INFINITY)
      const before = bench.server.calls.download
      writeFileSync(bench.file('late.wav'), tinyWave(2))
      await until(() => bench.server.calls.download > before)
      expect(bench.server.charges).toBe(2)
      remount(daemon, 'ro')
      bench.server.heal()
      await daemon.until(/late\.wav will be retried: /)
      remount(daemon, 'rw')
      await until(() => isPublished('late.wav'))
      expectOnce('early.wav', 'late.wav')
      expect(bench.server.calls.startProcess).toBe(2)
    },
  )

  // In short the share is unmounted, in unmounted.test.ts.
  it.runIf(process.env.VOXMUX_SOAK || NO_MOUNTS)(
    'publishes once what it was writing when the share of its outputs went away (in the soak, or if unmounted.test.ts is skipped)',
    { timeout: LONG_MS },
    async () => {
      mkdirSync(out())
      const [writing, goOn, away] = ['writing', 'go-on', 'away'].map((name) => bench.workshop.path(name)) as Three
      // Writes the part file, and says so once it may.
      const real = process.env.VOXMUX_FFMPEG ?? execFileSync('which', ['ffmpeg'], { encoding: 'utf8' }).trim()
      const held = bench.workshop.path('held-ffmpeg')
      const hold = `[ -e "${writing}" ] || { : > "${writing}"; while [ ! -e "${goOn}" ]; do sleep 0.05; done; }`
      writeFileSync(held, `#!/bin/sh\n"${real}" "$@"; code=$?\ncase "$*" in *.part*) ${hold};; esac\nexit $code\n`)
      chmodSync(held, 0o755)
      const daemon = bench.watchThrough(['env', `VOXMUX_FFMPEG=${held}`], '--out', 'out')
      await daemon.until(/"event":"watching"/)
      writeFileSync(bench.file('a.wav'), tinyWave(1))
      await until(() => existsSync(writing))
      expect(filesBelow(out())).toEqual([expect.stringMatching(/^\.voxmux-.*\.part/)])
      renameSync(out(), away)
      writeFileSync(goOn, '')
      await daemon.until(/a\.wav will be retried: /)
      expect(existsSync(out())).toBe(false)
      renameSync(away, out())
      await until(() => isPublished('a.wav'))
      expectOnce('a.wav')
      expect(bench.server.calls.startProcess).toBe(1)
    },
  )
})

type Three = [string, string, string]
