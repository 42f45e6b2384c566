import { expect, it } from 'vitest'
import { audioStreams } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it('does not count the AC-3 that ffmpeg expects beside TrueHD, if the file has none', async () => {
  const path = folder.file('disc.m2ts')
  await ffmpeg(...tone(2, 48_000, 2), '-c:a', 'truehd', '-strict', '-2', path)
  expect(audioStreams(await probe(path)).map(({ codec }) => codec)).toEqual(['truehd'])
})
