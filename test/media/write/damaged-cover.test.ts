import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { audioStreams } from '../../../src/media/index.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

const PICTURE = Buffer.from('\0image/png\0\x03\0no picture at all')
const folder = folderOfTests()
let path: string
beforeAll(async () => {
  const sound = folder.file('sound.mp3')
  await ffmpeg(...tone(2, 44_100, 2), '-c:a', 'libmp3lame', '-id3v2_version', '0', sound)
  const tag = Buffer.from(`ID3\x03\0\0\0\0\0${String.fromCharCode(10 + PICTURE.length)}APIC\0\0\0`, 'latin1')
  path = folder.file('cover.mp3')
  await writeFile(path, Buffer.concat([tag, Buffer.from([PICTURE.length, 0, 0]), PICTURE, await readFile(sound)]))
  expect((await probe(path)).streams.map(({ codec }) => codec)).toEqual(['mp3', 'png'])
})

it('keeps a cover that is no picture', async () => {
  const { plan, part } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('frames')
  expect(plan.losses).toEqual([])
  expect((await readFile(part)).includes(PICTURE)).toBe(true)
})

it.each(['m4a', 'mka'])('leaves it out of another container (%s), and says so', async (container) => {
  const { plan, part } = await writtenFile(path, { container })
  expect(plan.losses).toMatchObject([{ stream: 1, reason: 'ffmpeg cannot read the size of this cover picture' }])
  expect(audioStreams(await probe(part))).toHaveLength(1)
})
