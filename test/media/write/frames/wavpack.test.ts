import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { InterruptedError } from '../../../../src/core/errors.js'
import { audioStreams } from '../../../../src/media/index.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { elementaryFrames } from '../../../../src/media/write/frames/elementary.js'
import { ffmpeg, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()

it.each([
  ['wv', 'fltp'],
  ['wv', 's16p'],
  ['tta', 's16'],
])('keeps the samples and the tags of a .%s (%s)', async (extension, format) => {
  const path = folder.file(`${format}.${extension}`)
  await ffmpeg(...tone(2, 48_000, 1), '-sample_fmt', format, '-metadata', 'title=A title', path)
  const { plan, part } = await writtenFile(path)
  expect(plan.losses).toEqual([])
  const media = await probe(part)
  expect(Object.entries(media.tags).map(([name, value]) => [name.toLowerCase(), value])).toContainEqual([
    'title',
    'A title',
  ])
  expect(audioStreams(media)[0]?.sampleFormat?.replace(/p$/, '')).toBe(format.replace(/p$/, ''))
})

it.each(['wv', 'tta'])('keeps the tags around the frames of a .%s byte for byte', async (extension) => {
  const path = folder.file(`tagged.${extension}`)
  await ffmpeg(...tone(2), '-fflags', '+bitexact', path)
  const tag = Buffer.from('TAGA title'.padEnd(128, '\0'))
  await writeFile(path, Buffer.concat([await readFile(path), tag]))
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('frames')
  expect(plan.losses).toEqual([])
  expect(syncOffsets(verified)).toEqual([0, 0, 0])
  expect((await readFile(part)).subarray(-128)).toEqual(tag)
})

it.each([
  [44, []],
  [200, ['WavPack/header of the packed file', 'WavPack/trailer of the packed file', 'WavPack/MD5']],
])('names what a .wv holds of the packed file, with a head of %d bytes', async (headBytes, names) => {
  const path = folder.file(`packed-${headBytes}.wv`)
  await ffmpeg(...tone(2), path)
  const bytes = await readFile(path)
  // A part has a name, its length in words, and its bytes.
  const part = (name: number, length: number) => Buffer.from([name, length / 2, ...Buffer.alloc(length)])
  const extras = [part(0x21, headBytes), ...(names.length > 0 ? [part(0x22, 40), part(0x26, 16)] : [])]
  const added = Buffer.concat(extras)
  bytes.writeUInt32LE(bytes.readUInt32LE(4) + added.length, 4)
  await writeFile(path, Buffer.concat([bytes.subarray(0, 32), added, bytes.subarray(32)]))
  const { plan } = await writtenFile(path)
  expect(plan.losses.map(({ what }) => what)).toEqual(names)
})

it('ends the search of a long .wv if the run is interrupted', async () => {
  const path = folder.file('long.wv')
  await ffmpeg(...tone(2), path)
  const parsed = elementaryFrames.parse(await probe(path), AbortSignal.abort())
  await expect(parsed).rejects.toBeInstanceOf(InterruptedError)
})
