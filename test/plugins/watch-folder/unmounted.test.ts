import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { type MountSpace, NO_MOUNTS, openMountSpace } from '../../helpers/system/mount-space.js'
import { until } from '../../helpers/until.js'
import type { RunningCli } from '../../helpers/voxmux-cli.js'
import { filesBelow, watchBench } from './watch-bench.js'

const SOAK = Boolean(process.env.VOXMUX_SOAK)
const unmountedInput = `forgets nothing of an input that is unmounted, and goes on${SOAK ? '' : ' (only in the soak)'}`
/** Several starts of the daemon, on a machine that has other tests to run. */
const LONG_MS = 300_000
/** What is said of a place that is no more where its share is mounted. */
const isUnmounted = (name: string) => new RegExp(`share of \\S+/${name} is not mounted on \\S+/${name} any more`)
const SERVICE_DOWN = { kind: 'status', status: 503 } as const

/** The worst that an unmounted share leaves: an empty folder under the same path that takes whatever is written. */
describe.skipIf(NO_MOUNTS)(`shares that are unmounted${NO_MOUNTS ? ` (skipped: ${NO_MOUNTS})` : ''}`, () => {
  const bench = watchBench()
  let space: MountSpace
  beforeEach(async () => {
    for (const name of ['share', 'out', 'failed']) mkdirSync(bench.workshop.path(name))
    space = await openMountSpace(bench.workshop.path('share'), bench.workshop.dir)
    for (const name of ['in', 'out', 'failed']) space.mount(bench.workshop.path(name))
  })
  afterEach(() => space.close())

  const place = (name: string) => bench.workshop.path(name)
  const watch = (...more: readonly string[]) =>
    bench.watchThrough(space.through, '--out', 'out', '--failed', 'failed', ...more)
  const drop = (name: string, content: string | Buffer) => writeFileSync(space.inside(place(`in/${name}`)), content)
  /** As the daemon sees it: the share, or the bare place. */
  const filesOf = (name: string) => filesBelow(space.inside(place(name)))
  const isPublished = (name: string) => existsSync(space.inside(place(`out/${name}.voxmux.json`)))
  const unmount = async (name: string, daemon: RunningCli) => {
    space.unmount(place(name))
    await daemon.until(isUnmounted(name))
  }
  /** Longer than some scans, and than a file takes to settle. */
  const aWhile = () => sleep(1500)

  // In short it is renamed, in watch.test.ts.
  it.runIf(SOAK)(unmountedInput, { timeout: LONG_MS }, async () => {
    const daemon = watch()
    await daemon.until(/"event":"watching"/)
    drop('done.wav', tinyWave(1))
    await until(() => isPublished('done.wav'))
    bench.server.fail('registerFile', SERVICE_DOWN, Number.POSITIVE_INFINITY)
    drop('in hand.wav', tinyWave(2))
    await daemon.until(/"job begins"[\s\S]*"job begins"/)
    await unmount('in', daemon)
    bench.server.heal()
    await aWhile()
    expect(filesOf('in')).toEqual([])
    expect(filesOf('failed')).toEqual([])
    space.mount(place('in'))
    await until(() => isPublished('in hand.wav'))
    await aWhile()
    expect(filesOf('out')).toEqual(['done', 'in hand'].flatMap((name) => [`${name}.wav`, `${name}.wav.voxmux.json`]))
    expect(bench.server.calls.startProcess).toBe(2)
  })

  it('publishes nothing on the bare place of its outputs: unmounted before, at the service, and in mid-write', {
    timeout: LONG_MS,
  }, async () => {
    const [armed, writing, held] = [place('armed'), place('writing'), place('held-ffprobe')]
    // Once armed, it says that it read a part, and waits.
    const real = process.env.VOXMUX_FFPROBE ?? execFileSync('which', ['ffprobe'], { encoding: 'utf8' }).trim()
    const hold = `[ ! -e "${armed}" ] || : > "${writing}"; while [ -e "${armed}" ]; do sleep 0.05; done`
    writeFileSync(held, `#!/bin/sh\n"${real}" "$@"; code=$?\ncase "$*" in *.part*) ${hold};; esac\nexit $code\n`)
    chmodSync(held, 0o755)
    const daemon = bench.watchThrough([...space.through, 'env', `VOXMUX_FFPROBE=${held}`], '--out', 'out')
    await daemon.until(/"event":"watching"/)
    const goesOnWith = async (name: string) => {
      expect(filesOf('out')).toEqual([])
      space.mount(place('out'))
      await until(() => isPublished(name))
    }

    space.unmount(place('out'))
    drop('a.wav', tinyWave(1))
    await daemon.until(isUnmounted('out'))
    await aWhile()
    expect(bench.server.calls.registerFile).toBe(0)
    await goesOnWith('a.wav')

    bench.server.fail('download', SERVICE_DOWN, Number.POSITIVE_INFINITY)
    const before = bench.server.calls.download
    drop('b.wav', tinyWave(2))
    await until(() => bench.server.calls.download > before)
    space.unmount(place('out'))
    bench.server.heal()
    await daemon.until(/b\.wav will be retried: /)
    await goesOnWith('b.wav')

    writeFileSync(armed, '')
    drop('c.wav', tinyWave(3))
    await until(() => existsSync(writing))
    space.unmount(place('out'))
    rmSync(armed)
    await daemon.until(/c\.wav will be retried: /)
    await goesOnWith('c.wav')

    expect(filesOf('out')).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name}.wav`, `${name}.wav.voxmux.json`]))
    expect(bench.server.charges).toBe(3)
    expect(bench.server.calls.startProcess).toBe(3)
    expect(bench.names('failed')).toEqual([])
  })

  it.runIf(SOAK)(
    'knows a share that is not mounted yet from one that it left for good, over restarts (only in the soak)',
    {
      timeout: LONG_MS,
    },
    async () => {
      const first = watch()
      await first.until(/"event":"watching"/)
      drop('bad.wav', 'no sound')
      await until(() => filesOf('failed').includes('bad.wav.json'))
      first.child.kill('SIGTERM')
      await first.ended

      // The machine starts again, and the daemon before its shares.
      for (const name of ['out', 'failed']) space.unmount(place(name))
      const second = watch('--port', '0')
      await second.until(isUnmounted('out'))
      await second.until(/"url":"http/)
      const url = /"url":"(http[^"]+)"/.exec(second.said())?.[1]
      const ready = await fetch(`${url}readyz`)
      expect(ready.status).toBe(503)
      expect(await ready.text()).toMatch(isUnmounted('out'))
      drop('good.wav', tinyWave(1))
      drop('worse.wav', 'no sound')
      space.mount(place('out'))
      // One of two is not enough: where would the report go?
      await second.until(isUnmounted('failed'))
      await aWhile()
      expect([...filesOf('out'), ...filesOf('failed')]).toEqual([])
      space.mount(place('failed'))
      await until(() => isPublished('good.wav') && filesOf('failed').includes('worse.wav.json'))
      expect(filesOf('failed')).toEqual(['bad.wav.json', 'worse.wav.json'])
      second.child.kill('SIGTERM')
      await second.ended

      for (const name of ['out', 'failed']) space.unmount(place(name))
      const third = watch('--as-mounted')
      await third.until(/"event":"watching"/)
      drop('here.wav', tinyWave(2))
      await until(() => isPublished('here.wav'))
      expect(filesBelow(place('out'))).toEqual(['here.wav', 'here.wav.voxmux.json'])
      third.child.kill('SIGTERM')
      await third.ended
      // From now on that is where they are.
      const fourth = watch()
      await fourth.until(/"event":"watching"/)
      drop('here too.wav', tinyWave(3))
      await until(() => isPublished('here too.wav'))
      expect(bench.server.charges).toBe(3)
    },
  )
})
