import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { dropAside, setAside } from '../../../../plugins/watch-folder/hooks/moved-aside.js'
import { restoreAside } from '../../../../plugins/watch-folder/hooks/restore-aside.js'
import { WatchDaemon } from '../../../../plugins/watch-folder/watch-daemon.js'
import { silentLogger } from '../../../../src/core/logger.js'
import { tinyWave } from '../../../helpers/sound/tiny-wave.js'
import { until } from '../../../helpers/until.js'
import { intakeBench } from '../intake/intake-bench.js'

const { file, watched, jobs } = intakeBench()
let daemon: WatchDaemon | undefined
// Before the bench removes its folder.
afterEach(() => daemon?.stop())

async function watch(): Promise<void> {
  await daemon?.stop()
  daemon = new WatchDaemon({
    context: jobs.pipeline.context,
    ledgerId: 'one',
    ...{ seenFile: jobs.folder.file('watch.sqlite'), concurrency: 1, waitsForFolders: true, logger: silentLogger },
    notices: { secret: null, dashboardUrl: () => null },
  })
  await daemon.watch([watched({ source: 'move' })])
}

/** A folder in which a killed process had set a file aside. */
function left(digit: number): string {
  const folder = file(`.voxmux-${String(digit).repeat(8)}-0000-0000-0000-000000000000.moved`)
  mkdirSync(folder)
  return folder
}

const isOld = (folder: string) => utimesSync(folder, 1, 1)
const hidden = () => readdirSync(file('')).filter((name) => name.startsWith('.'))

it('brings back what a killed move had set aside, and pays for nothing twice', async () => {
  writeFileSync(file('a.wav'), tinyWave(1))
  await watch()
  await until(() => existsSync(file('done/a.wav')) && hidden().length === 0)
  await daemon?.stop()

  // The first was killed before the old name went, the second before a newer version had its name back.
  const [first, second, third, empty, fresh] = [left(1), left(2), left(3), left(4), left(5)]
  linkSync(file('done/a.wav'), `${first}/a.wav`)
  writeFileSync(`${second}/b.wav`, tinyWave(2))
  // Another film has the name of the third.
  writeFileSync(`${third}/c.wav`, tinyWave(3))
  writeFileSync(file('c.wav'), tinyWave(4))
  for (const folder of [first, second, third, empty]) isOld(folder)
  // Another daemon moves this one now.
  writeFileSync(`${fresh}/d.wav`, tinyWave(5))
  await watch()
  const names = ['a.wav', 'b.wav', 'c.wav', 'c~2.wav']
  await until(() => names.every((name) => existsSync(file(`done/${name}`)) && !existsSync(file(name))))
  await until(() => hidden().length <= 1)
  expect(readdirSync(file('done')).sort()).toEqual(names)
  expect(hidden().map((name) => file(name))).toEqual([fresh])
  expect(readFileSync(file('done/c~2.wav')).equals(tinyWave(3))).toBe(true)
  expect(jobs.server.charges).toBe(4)
})

it('moves a file that another program still reads over NFS, which keeps it under another name', async () => {
  const [kept, gone] = [file('a.wav'), file('b.wav')]
  for (const path of [kept, gone]) writeFileSync(path, 'x')
  const aside = await setAside(kept)
  const hiddenName = join(dirname(aside), '.nfs000000000000001a00000001')
  writeFileSync(hiddenName, 'x')
  await dropAside(aside)
  isOld(dirname(aside))
  // Another process may have removed the folder.
  const other = await setAside(gone)
  rmSync(dirname(other), { recursive: true })
  await dropAside(other)

  await restoreAside(file(''), basename(dirname(aside)), file('done'))
  expect(readdirSync(file(''))).toEqual([basename(dirname(aside))])
  rmSync(hiddenName)
  isOld(dirname(aside))
  await restoreAside(file(''), basename(dirname(aside)), file('done'))
  expect(readdirSync(file(''))).toEqual([])
})
