import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it('refuses an MP3 in free format as a codec that ffmpeg cannot decode', async () => {
  const path = folder.file('free.mp3')
  // As `lame --freeformat -b 400` writes them at 48 kHz.
  const frame = Buffer.concat([Buffer.from('fffb04c4', 'hex'), Buffer.alloc(1196)])
  await writeFile(path, Buffer.concat(Array.from({ length: 100 }, () => frame)))
  await expect(probe(path)).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_CODEC', errorCode: -7, exitCode: 5 })
})
