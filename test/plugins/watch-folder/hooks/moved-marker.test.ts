import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { WatchDaemon } from '../../../../plugins/watch-folder/watch-daemon.js'
import { silentLogger } from '../../../../src/core/logger.js'
import { tinyWave } from '../../../helpers/sound/tiny-wave.js'
import { until } from '../../../helpers/until.js'
import { intakeBench } from '../intake/intake-bench.js'

const { file, watched, jobs } = intakeBench()
let daemon: WatchDaemon | undefined
// Before the bench removes its folder.
afterEach(() => daemon?.stop())

it('moves the marker of a source with it, so that the next file of its name waits for its own', async () => {
  daemon = new WatchDaemon({
    context: jobs.pipeline.context,
    ledgerId: 'one',
    ...{ seenFile: jobs.folder.file('watch.sqlite'), concurrency: 1, waitsForFolders: true, logger: silentLogger },
    notices: { secret: null, dashboardUrl: () => null },
  })
  const filter = { include: [], exclude: [], marker: '{name}.done', renamedFrom: null }
  mkdirSync(file('day'))
  for (const name of ['a.wav', 'day/b.wav']) {
    writeFileSync(file(name), tinyWave(name.length))
    writeFileSync(file(`${name}.done`), '')
  }
  await daemon.watch([watched({ source: 'move', filter })])
  const names = ['a.wav', 'a.wav.done', 'day/b.wav', 'day/b.wav.done']
  await until(() => names.every((name) => existsSync(file(`done/${name}`)) && !existsSync(file(name))))

  // Dropped again, it is put away with its marker.
  writeFileSync(file('a.wav'), tinyWave(5))
  writeFileSync(file('a.wav.done'), '')
  await until(() => existsSync(file('done/a~2.wav')) && !existsSync(file('a.wav.done')))
  expect(jobs.server.charges).toBe(2)
})
