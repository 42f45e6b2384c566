import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { uint32BE } from '../../../../src/media/number-bytes.js'
import { verifyMux } from '../../../../src/media/verify/verify-mux.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../../helpers/written-file.js'
import { box } from '../../movie-boxes.js'

const folder = folderOfTests()

/** A block of a dashcam's GPS, as it lies in the media data. */
const block = (text: string) => box('free', Buffer.from(`GPS ${text}`))

it('moves the places of a dashcam’s GPS blocks, and leaves a log of the same name', async () => {
  const [plain, path] = [folder.file('plain.mp4'), folder.file('dashcam.mp4')]
  await ffmpeg(...picture(2), ...tone(2), '-c:v', 'libx264', '-c:a', 'aac', '-b:a', '256k', plain)
  const movie = await readFile(plain)
  const moovAt = movie.lastIndexOf('moov') - 4
  const blocks = [block('the first'), block('another one')] as const
  const [first, second] = blocks
  const at = moovAt + 8
  const entries = uint32BE(0, 3, at, first.length, at + first.length, second.length, 0xffff_fff0, 9)
  const log = box('udta', box('gps ', uint32BE(0, 1, at, first.length)))
  const index = box('moov', Buffer.concat([movie.subarray(moovAt + 8), box('gps ', entries), log]))
  await writeFile(path, Buffer.concat([movie.subarray(0, moovAt), box('mdat', Buffer.concat(blocks)), index]))

  const { plan, part, result } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('iso-bmff')
  expect(census.find(({ path }) => path === 'moov/gps ')?.fate).toBe('rewritten')
  const output = await readFile(part)
  expect(output.indexOf(first)).not.toBe(at)
  const [places, kept] = [output.indexOf('gps ') + 12, output.lastIndexOf(log)]
  expect(kept).toBeGreaterThan(places)
  for (const [place, bytes] of blocks.entries())
    expect(output.readUInt32BE(places + 8 * place)).toBe(output.indexOf(bytes))
  expect(output.readUInt32BE(places + 16)).toBe(0xffff_fff0)
  output.writeUInt32BE(output.readUInt32BE(places) + 1, places)
  await writeFile(part, output)
  const verified = verifyMux(plan, result, part, { level: 'fast' })
  await expect(verified).rejects.toThrow('the table of GPS blocks')
})
