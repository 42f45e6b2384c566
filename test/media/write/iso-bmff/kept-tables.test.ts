import { open, readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readIsoFile } from '../../../../src/media/write/iso-bmff/read/iso-file.js'
import { readStructure } from '../../../../src/media/write/iso-bmff/read/read-structure.js'
import { ffmpeg, picture, type TestFolder, testFolder, tone } from '../../../helpers/media-factory.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

async function isoFile(path: string) {
  const file = await open(path, 'r')
  try {
    return readIsoFile(await readStructure(file, (await file.stat()).size), 0)
  } finally {
    await file.close()
  }
}

it('keeps the packets of sound alone in memory, and refuses contradictions in any track', async () => {
  const path = folder.file('film.mp4')
  await ffmpeg(...picture(2, '64x48', 5), ...tone(2), '-c:v', 'libx264', '-c:a', 'aac', path)
  const { movie, oldTracks } = await isoFile(path)
  expect(movie.tracks.map(({ handler }) => handler)).toEqual(['vide', 'soun'])
  expect([...oldTracks.keys()]).toEqual([1])

  const bytes = await readFile(path)
  // The number of sizes of pictures: after the version, the flags and the common size.
  bytes.writeUInt32BE(1, bytes.indexOf('stsz') + 12)
  await writeFile(path, bytes)
  await expect(isoFile(path)).rejects.toThrow('more samples in chunks than sizes')
})
