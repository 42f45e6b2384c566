import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it.each([
  ['rm', ['-c:v', 'rv10', '-c:a', 'ac3']],
  ['roq', ['-c:v', 'roqvideo', '-c:a', 'roq_dpcm', '-ar', '22050', '-ac', '1']],
])('names a command that works for a .%s, whose streams ffmpeg cannot copy', async (type, codecs) => {
  const path = folder.file(`film.${type}`)
  await ffmpeg(...picture(1, '64x64', 30), ...tone(1), ...codecs, path)
  await expect(ffmpeg('-i', path, '-c', 'copy', folder.file(`copied-${type}.mkv`))).rejects.toThrow()
  const refused = { code: 'ERR_UNSUPPORTED_CONTAINER', errorCode: -16 }
  const convert = 'If ffmpeg cannot copy its streams, convert them: `ffmpeg -i in out.mkv`.'
  await expect(probe(path)).rejects.toMatchObject({ ...refused, remedies: expect.arrayContaining([convert]) })
  const converted = folder.file(`converted-${type}.mkv`)
  await ffmpeg('-i', path, converted)
  expect((await probe(converted)).streams.map(({ kind }) => kind)).toEqual(['video', 'audio'])
})
