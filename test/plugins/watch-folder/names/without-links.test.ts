import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fileFacts } from '../../../../plugins/watch-folder/candidates/file-facts.js'
import { moveSource } from '../../../../plugins/watch-folder/hooks/move-source.js'
import { folderOfEachTest } from '../../../helpers/system/folder-of-tests.js'
import { mountMacVolume, NO_MAC_VOLUME } from '../../../helpers/system/mac-volume.js'

const folder = folderOfEachTest()

const title = 'sources of one name that arrive at the same moment replace nothing on a disk without hard links'

it.skipIf(NO_MAC_VOLUME !== null)(
  NO_MAC_VOLUME ? `${title} (skipped: ${NO_MAC_VOLUME})` : title,
  { timeout: 60_000 },
  async () => {
    const unmount = await mountMacVolume(folder.path, 'nolink')
    try {
      const contents = Array.from({ length: 6 }, (_, index) => `source ${index}`)
      const moves = contents.map(async (content, index) => {
        const root = folder.file(`in-${index}`)
        await mkdir(root)
        await writeFile(join(root, 'a.mov'), content)
        const facts = await fileFacts(join(root, 'a.mov'))
        if (!facts) throw new Error('no file')
        return () => moveSource(root, 'a.mov', folder.file('done'), facts)
      })
      const targets = await Promise.all((await Promise.all(moves)).map((move) => move()))
      expect(new Set(targets).size).toBe(contents.length)
      const moved = await Promise.all(targets.map((target) => readFile(target, 'utf8')))
      expect(moved).toEqual(contents)
      expect(await readdir(folder.file('done'))).toHaveLength(contents.length)
    } finally {
      await unmount()
    }
  },
)
