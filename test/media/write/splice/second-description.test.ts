import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, testFolder, tone } from '../../../helpers/media-factory.js'
import { splicedFile } from '../../../helpers/spliced-file.js'
import { box, replaceBoxes } from '../../movie-boxes.js'

/** Describes the packets of the only track twice, and has all of them use the second description. */
function withSecondDescription(movie: Buffer): Buffer {
  return replaceBoxes(movie, 'stbl', (stbl) => {
    const tables: Buffer[] = []
    for (let at = 8; at < stbl.length; at += stbl.readUInt32BE(at)) {
      const table = Buffer.from(stbl.subarray(at, at + stbl.readUInt32BE(at)))
      const type = table.toString('latin1', 4, 8)
      if (type === 'stsc') {
        for (let row = 0; row < table.readUInt32BE(12); row++) table.writeUInt32BE(2, 16 + 12 * row + 8)
      }
      const entry = table.subarray(16)
      tables.push(
        type === 'stsd' ? box('stsd', Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 2]), entry, entry])) : table,
      )
    }
    return box('stbl', Buffer.concat(tables))
  })
}

it('encodes a track whole if ffmpeg cannot write the head of its packets alone', async () => {
  const folder = await testFolder()
  const path = folder.file('second.m4a')
  await ffmpeg(...tone(4, 48_000, 2), '-c:a', 'aac', path)
  await writeFile(path, withSecondDescription(await readFile(path)))
  const { verify, splice } = await splicedFile(path, [[1, 2]])
  // ffmpeg writes the settings of the second description over the end of the head.
  expect(splice?.kind).toBe('whole')
  await verify()
  await folder.remove()
})
