import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { WatchDaemon } from '../../../plugins/watch-folder/watch-daemon.js'
import type { WatchedFolder } from '../../../plugins/watch-folder/watched-folder.js'
import { silentLogger } from '../../../src/core/logger.js'
import type { JobHooks } from '../../../src/pipeline/job-hooks.js'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { until } from '../../helpers/until.js'
import { intakeBench } from './intake/intake-bench.js'

const { file, watched, jobs } = intakeBench()
let running: WatchDaemon | undefined
// Before the bench removes its folder.
afterEach(() => running?.stop())

/** A daemon in this process. @param before hooks that come before its own */
function daemonWith(...before: readonly JobHooks[]): WatchDaemon {
  const daemon = new WatchDaemon({
    context: { ...jobs.pipeline.context, hooks: before },
    ...{ seenFile: jobs.folder.file('watch.sqlite'), concurrency: 1, waitsForFolders: true, logger: silentLogger },
    notices: { secret: null, dashboardUrl: () => null },
  })
  running = daemon
  return daemon
}

function folderAt(name: string, more: Partial<WatchedFolder> = {}): WatchedFolder {
  const path = file(name)
  mkdirSync(path, { recursive: true })
  return watched({ group: path, path, out: `${path}/out`, failed: `${path}/failed`, done: `${path}/done`, ...more })
}

const paths = (daemon: WatchDaemon) => daemon.folders.map(({ path }) => path)

it('watches on as before if one of the new folders cannot be watched', async () => {
  const daemon = daemonWith()
  const [one, two] = [folderAt('one'), folderAt('two')]
  await daemon.watch([one, two])
  writeFileSync(file('wrong'), 'a file')
  const wrong = folderAt('three', { out: file('wrong') })
  await expect(daemon.watch([wrong, { ...one, priority: 1 }])).rejects.toMatchObject({ code: 'ERR_WATCH_FOLDER' })
  expect(paths(daemon)).toEqual([one.path, two.path])
  writeFileSync(file('one/a.wav'), tinyWave(1))
  await until(() => existsSync(file('one/out/a.wav.voxmux.json')))
})

it.each(['changed', 'removed'])('moves the source of a job that ends while its folder is %s', async (how) => {
  let reload: (() => Promise<void>) | undefined
  let reloading: Promise<void> | undefined
  const daemon = daemonWith({
    name: 'reload',
    async afterPublish() {
      reloading ??= reload?.()
      // As long as a share takes to respond.
      for (let look = 0; look < 30 && paths(daemon).length > 0; look++) await sleep(10)
    },
  })
  const folder = folderAt('one', { source: 'move' })
  reload = () => daemon.watch(how === 'changed' ? [{ ...folder, priority: 1 }] : [])
  await daemon.watch([folder])
  writeFileSync(file('one/a.wav'), tinyWave(1))
  await until(() => existsSync(file('one/out/a.wav.voxmux.json')) && reloading !== undefined)
  await reloading
  await until(() => existsSync(file('one/done/a.wav')) && !existsSync(file('one/a.wav')))
})
