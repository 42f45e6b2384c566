import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, ffprobeJson, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()

const packetCount = async (path: string) => {
  const { packets } = await ffprobeJson(path, '-select_streams', 'v', '-show_packets')
  return (packets as readonly unknown[]).length
}

it('publishes a film with a picture of no bytes, which the muxer leaves out', async () => {
  const path = folder.file('film.mp4')
  await ffmpeg(...picture(1), ...tone(1), '-c:v', 'mpeg4', '-c:a', 'aac', path)
  const bytes = await readFile(path)
  // The sizes of the pictures: a common size of zero, their number, then one each.
  const table = bytes.indexOf('stsz') + 12
  bytes.writeUInt32BE(0, table + 4 * bytes.readUInt32BE(table))
  await writeFile(path, bytes)
  const { part, verified } = await writtenFile(path, { keepOriginal: true })
  expect(await packetCount(part)).toBe((await packetCount(path)) - 1)
  expect(verified.checks).toContain('times of every picture and subtitle')
})
