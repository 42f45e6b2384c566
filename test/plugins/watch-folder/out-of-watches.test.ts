import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { until } from '../../helpers/until.js'
import { watchBench } from './watch-bench.js'

/** In a user namespace of its own the daemon may be given as few of these as one likes. */
const limited = (limit: string, count: number) => [
  ...['unshare', '--user', '--map-root-user'],
  ...['sh', '-c', `echo ${count} > /proc/sys/user/${limit} && exec "$@"`, 'sh'],
]
const tries = (program: readonly string[]) => {
  const [name = '', ...args] = [...program, 'true']
  return spawnSync(name, args).status === 0
}
const NO_NAMESPACE = tries(limited('max_inotify_watches', 1)) ? null : 'no user namespace'
const NO_LIMIT = tries(['prlimit', '--nofile=256']) ? null : 'no prlimit'
/** Handles beside those that it has open when nothing happens: too few for the first file, or for the first job. */
const FEW_HANDLES = [4, 12]
/** ffprobe alone needs three pipes. */
const LEAST_OF_A_PROBE = 6
const FILES = 5

/** Starts of the daemon and jobs, on a machine that has other tests to run. */
const LONG_MS = 240_000

describe('a daemon that runs out', { timeout: LONG_MS }, () => {
  const bench = watchBench()
  const isPublished = (name: string) => existsSync(bench.file(`out/${name}.voxmux.json`))

  const runningOut: readonly (readonly [what: string, few: readonly string[], code: string])[] = [
    ['watches, over its sub-folders', limited('max_inotify_watches', 2), 'ENOSPC'],
    ...(process.env.VOXMUX_SOAK
      ? [['handles for watches', limited('max_inotify_instances', 0), 'EMFILE'] as const]
      : []),
  ]

  it.skipIf(NO_NAMESPACE).each(runningOut)(
    `of %s says so, and finds files by scans${NO_NAMESPACE ? ` (skipped: ${NO_NAMESPACE})` : ''}`,
    async (_what, few, code) => {
      for (let day = 1; day <= 4; day++) mkdirSync(bench.file(`day ${day}`))
      const config = bench.workshop.path('voxmux.json')
      writeFileSync(config, JSON.stringify({ watch: { folders: [{ path: bench.workshop.path('in') }] } }))
      const daemon = bench.watchThrough(few, '--config', config, '--port', '0')
      await daemon.until(new RegExp(`"code":"${code}","msg":"No events for .*: it is searched every 0.3 s instead`))
      await daemon.until(/"event":"watching"/)
      writeFileSync(bench.file('day 4/a.wav'), tinyWave(0))
      await until(() => isPublished('day 4/a.wav'))
      // Said once, however often it is searched.
      await sleep(1000)
      daemon.child.kill('SIGTERM')
      expect((await daemon.ended).stderr.match(/No events for/g)).toHaveLength(1)
    },
  )

  it.skipIf(NO_LIMIT).each(FEW_HANDLES)(
    `of file handles, with %i to spare, fails no file and goes on when there are more${NO_LIMIT ? ` (skipped: ${NO_LIMIT})` : ''}`,
    async (few) => {
      const daemon = bench.watch('--concurrency', '8')
      await daemon.until(/"event":"watching"/)
      const { pid } = daemon.child
      const allow = (handles: number) => execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${handles}:4096`])
      allow(readdirSync(`/proc/${pid}/fd`).length + few)
      for (let n = 0; n < FILES; n++) writeFileSync(bench.file(`${n}.wav`), tinyWave(n))
      const allPublished = () => Array.from({ length: FILES }, (_, n) => `${n}.wav`).every(isPublished)
      // Jobs that come one after the other can do with few.
      await until(() => /Too many files are open/.test(daemon.said()) || (few > LEAST_OF_A_PROBE && allPublished()))
      allow(4096)
      await until(allPublished)
      expect(bench.names('failed')).toEqual([])
      expect(bench.server.charges).toBe(FILES)
    },
  )
})
