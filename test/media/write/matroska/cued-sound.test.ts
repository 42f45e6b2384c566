import { stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { BlockList } from '../../../../src/media/write/matroska/read/block-list.js'
import { readMatroska } from '../../../../src/media/write/matroska/read/matroska-file.js'
import { isCued } from '../../../../src/media/write/matroska/spliceable-matroska.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it('takes Cues as an index of the sound only if they lead to it', async () => {
  const path = folder.file('film.mkv')
  const film = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10', '-c:a', 'aac']
  await ffmpeg(...picture(8, '64x48', 5), ...tone(8), ...film, path)
  const file = await readMatroska(path, (await stat(path)).size)
  const [blocks] = [...file.blocks.values()] as [BlockList]
  expect(isCued(file, blocks)).toBe(true)

  expect(isCued({ ...file, clusters: [] }, blocks)).toBe(false)
  const hasElement = (part: (typeof file.parts)[number]) => part.kind === 'element'
  expect(isCued({ ...file, parts: file.parts.filter((part) => !hasElement(part)) }, blocks)).toBe(false)
  // Sound that lies three seconds before the picture of its time.
  const early = new BlockList()
  for (let block = 0; block < blocks.count; block++) {
    const place = { dataStart: blocks.dataStart(block), dataLength: blocks.dataLength(block), cluster: 0, ordinal: 1 }
    const whole = { start: blocks.start(block), length: blocks.end(block) - blocks.start(block), flags: 0 }
    early.push({ ...place, ...whole, tick: blocks.tick(block) + 3000 })
  }
  expect(isCued(file, early)).toBe(false)
})
