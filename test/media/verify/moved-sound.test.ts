import { rename } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { verifyMux } from '../../../src/media/verify/verify-mux.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()

it.each([
  ['mkv', '0.01'],
  ['mp4', '0.2'],
])('refuses an output whose kept sound of a .%s moved by %s s', async (container, movedSec) => {
  const path = folder.file(`film.${container}`)
  await ffmpeg(...picture(1), ...tone(1, 48_000, 2), '-c:v', 'mpeg4', '-c:a', 'ac3', path)
  const { plan, result, part } = await writtenFile(path, { container: 'mkv', keepOriginal: true })
  const moved = folder.file(`moved-${container}.mkv`)
  const kept = ['-map', '0:v', '-map', '0:a:0', '-map', '1:a:1', '-c', 'copy', moved]
  await ffmpeg('-i', part, '-itsoffset', movedSec, '-i', part, ...kept)
  await rename(moved, part)
  await expect(verifyMux(plan, result, part, { level: 'full' })).rejects.toThrow('the start of audio stream 1')
})
