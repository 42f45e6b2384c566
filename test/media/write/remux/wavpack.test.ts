import { expect, it } from 'vitest'
import { audioStreams } from '../../../../src/media/index.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()

it.each([
  ['wv', 'fltp'],
  ['wv', 's16p'],
  ['tta', 's16'],
])('keeps the samples and the tags of a .%s (%s)', async (extension, format) => {
  const path = folder.file(`${format}.${extension}`)
  await ffmpeg(...tone(2, 48_000, 1), '-sample_fmt', format, '-metadata', 'title=A title', path)
  const { plan, part } = await writtenFile(path)
  expect(plan.losses).toEqual([])
  const media = await probe(part)
  expect(Object.entries(media.tags).map(([name, value]) => [name.toLowerCase(), value])).toContainEqual([
    'title',
    'A title',
  ])
  expect(audioStreams(media)[0]?.sampleFormat?.replace(/p$/, '')).toBe(format.replace(/p$/, ''))
})
