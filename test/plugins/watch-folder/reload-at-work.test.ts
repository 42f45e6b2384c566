import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { WatchDaemon } from '../../../plugins/watch-folder/watch-daemon.js'
import type { WatchedFolder } from '../../../plugins/watch-folder/watched-folder.js'
import { TransientError } from '../../../src/core/errors.js'
import { silentLogger } from '../../../src/core/logger.js'
import type { PipelineContext } from '../../../src/pipeline/context.js'
import type { JobHooks } from '../../../src/pipeline/job-hooks.js'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { until } from '../../helpers/until.js'
import { intakeBench } from './intake/intake-bench.js'

const { file, watched, jobs } = intakeBench()
let running: WatchDaemon | undefined
// Before the bench removes its folder.
afterEach(() => running?.stop())

/** A daemon in this process, with these parts in the place of its own. */
function daemonWith(parts: Partial<PipelineContext> = {}): WatchDaemon {
  const daemon = new WatchDaemon({
    context: { ...jobs.pipeline.context, ...parts },
    ledgerId: 'one',
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

it('ends the pause of a removed folder at the next reload if the store was away', async () => {
  const { jobs: store } = jobs.pipeline.context
  let isAway = false
  const resume = async (group: string | null) => {
    if (isAway) throw new TransientError('ERR_STORE_UNREACHABLE', 'The store does not respond.')
    await store.resume(group)
  }
  const daemon = daemonWith({ jobs: { ...store, resume } })
  const [one, two] = [folderAt('one'), folderAt('two')]
  await daemon.watch([one, two])
  renameSync(two.path, file('away'))
  await until(async () => (await store.pauses()).length > 0)
  isAway = true
  await expect(daemon.watch([one])).rejects.toMatchObject({ code: 'ERR_STORE_UNREACHABLE' })
  isAway = false
  await daemon.watch([one])
  expect(await store.pauses()).toEqual([])
  expect(paths(daemon)).toEqual([one.path])

  // A folder that comes back after such a fault is watched.
  await daemon.watch([one, two])
  await until(async () => (await store.pauses()).length > 0)
  isAway = true
  await expect(daemon.watch([one])).rejects.toMatchObject({ code: 'ERR_STORE_UNREACHABLE' })
  isAway = false
  await daemon.watch([one, two])
  renameSync(file('away'), two.path)
  writeFileSync(file('two/a.wav'), tinyWave(1))
  await until(() => existsSync(file('two/out/a.wav.voxmux.json')))
})

it('leaves no pause behind when it stops, because the next configuration may not have the folder', async () => {
  const { jobs: store } = jobs.pipeline.context
  const daemon = daemonWith()
  const one = folderAt('one')
  await daemon.watch([one])
  renameSync(one.path, file('away'))
  await until(async () => (await store.pauses()).length > 0)
  await daemon.stop()
  expect(await store.pauses()).toEqual([])
})

it.each(['changed', 'removed'])('moves the source of a job that ends while its folder is %s', async (how) => {
  let reload: (() => Promise<void>) | undefined
  let reloading: Promise<void> | undefined
  const hook: JobHooks = {
    name: 'reload',
    async afterPublish() {
      reloading ??= reload?.()
      // As long as a share takes to respond.
      for (let look = 0; look < 30 && paths(daemon).length > 0; look++) await sleep(10)
    },
  }
  const daemon = daemonWith({ hooks: [hook] })
  const folder = folderAt('one', { source: 'move' })
  reload = () => daemon.watch(how === 'changed' ? [{ ...folder, priority: 1 }] : [])
  await daemon.watch([folder])
  writeFileSync(file('one/a.wav'), tinyWave(1))
  await until(() => existsSync(file('one/out/a.wav.voxmux.json')) && reloading !== undefined)
  await reloading
  await until(() => existsSync(file('one/done/a.wav')) && !existsSync(file('one/a.wav')))
})
