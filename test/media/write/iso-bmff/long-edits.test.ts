import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, picture, testFolder, tone } from '../../../helpers/media-factory.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { boxTree, bytesOfBox } from './box-tree.js'

/** Place of the duration of the only edit in `elst`. */
const EDIT_DURATION_AT = 16

it('states the length of the sound if its edit list plays far more than its packets hold', async () => {
  const folder = await testFolder()
  const path = folder.file('long-edit.mp4')
  await ffmpeg(...picture(3), ...tone(3), '-shortest', '-c:a', 'aac', path)
  const file = await readFile(path)
  const sound = boxTree(file).find(({ path: name }) => name === 'moov/trak#1/edts/elst')
  file.writeUInt32BE(9000, (sound?.start ?? 0) + EDIT_DURATION_AT)
  await writeFile(path, file)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const [before, after] = [file, await readFile(part)].map((bytes) =>
    boxTree(bytes).flatMap((box) => (/(mvhd|tkhd)$/.test(box.path) ? [bytesOfBox(bytes, box)] : [])),
  )
  expect(after).toEqual(before)
  await folder.remove()
})

it('keeps the sound of the last packets if the table of their durations ends before', async () => {
  const folder = await testFolder()
  const path = folder.file('short-table.mp4')
  // Of whole packets, so that the table has one row.
  await ffmpeg(...tone(2.048, 48_000, 1), '-c:a', 'aac', path)
  const bytes = await readFile(path)
  const rowAt = bytes.indexOf('stts') + 12
  bytes.writeUInt32BE(bytes.readUInt32BE(rowAt) - 20, rowAt)
  await writeFile(path, bytes)
  const { plan, result } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  expect(result.voices.map(({ sampleCount }) => sampleCount)).toEqual([98_304])
  await folder.remove()
})
