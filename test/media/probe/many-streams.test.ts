import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { checksumOf } from '../checksum.js'

const folder = folderOfTests()

/** The first page of a stream of Opus, with its checksum. */
function firstPage(serial: number): Buffer {
  const head = Buffer.from(`OggS\0\x02${'\0'.repeat(20)}\x01\x13`, 'latin1')
  head.writeUInt32LE(serial, 14)
  const page = Buffer.concat([head, Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1')])
  page.writeUInt32LE(checksumOf(page, 0), 22)
  return page
}

it('refuses a file of more streams than ffmpeg reads, which ffmpeg calls a lack of memory', async () => {
  const path = folder.file('crowd.ogg')
  await writeFile(path, Buffer.concat(Array.from({ length: 1200 }, (_, serial) => firstPage(serial + 1))))
  const refused = { code: 'ERR_UNREADABLE', errorCode: -2, message: `${path} has more streams than ffmpeg reads.` }
  await expect(probe(path)).rejects.toMatchObject(refused)
})
