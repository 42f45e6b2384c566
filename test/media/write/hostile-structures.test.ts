import { open, readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { uint32BE } from '../../../src/media/number-bytes.js'
import { MalformedFile } from '../../../src/media/probe/malformed-file.js'
import { probe } from '../../../src/media/probe/probe.js'
import { waveChunks } from '../../../src/media/probe/wave-chunks.js'
import { keepId3 } from '../../../src/media/write/frames/id3-frames.js'
import { readStructure } from '../../../src/media/write/iso-bmff/read/read-structure.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { writingFacts } from '../../../src/media/write/writing.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

const u16 = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [place, value] of values.entries()) bytes.writeUInt16BE(value, 2 * place)
  return bytes
}
const box = (type: string, ...parts: readonly Buffer[]) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([uint32BE(8 + body.length), Buffer.from(type, 'latin1'), body])
}

/** An item table: each item has as many places as two bytes can count, and none of them takes a byte. */
const itemTable = (items: number) =>
  box('iloc', uint32BE(0), u16(0, items), Buffer.concat(Array(items).fill(u16(1, 0, 0xffff))))

/** The plan of a file whose end a test makes up. */
async function planned(name: string, codec: readonly string[], end: Buffer) {
  const path = folder.file(name)
  await ffmpeg(...tone(1, 44_100, 1), ...codec, path)
  await writeFile(path, Buffer.concat([await readFile(path), end]))
  return writingFacts(await planOutput(await probe(path), { replaced: [0] }))
}

it.each([
  ['an index of segments that is shorter than it states', box('sidx', uint32BE(0, 1, 1, 0, 0, 0xffff))],
  ['a table of fragments that ends in its head', box('mfra', box('tfra', uint32BE(0)))],
  ['items with places that take no bytes', box('meta', uint32BE(0), box('hdlr', Buffer.alloc(25)), itemTable(10_000))],
])('leaves an MP4 to ffmpeg that has %s', async (what, end) => {
  const { writer, declined } = await planned(`${what.replaceAll(' ', '-')}.m4a`, ['-c:a', 'aac'], end)
  expect(writer).toBe('remux')
  expect(declined).toContainEqual(expect.objectContaining({ writer: 'iso-bmff' }))
})

it.each([
  ['before its frames', 10_001, true],
  ['behind its frames', 10_001, false],
])('leaves an MP3 to ffmpeg that has very many tags without content %s', async (where, tags, isBefore) => {
  const [plain, path] = [folder.file('plain.mp3'), folder.file(`${where.replaceAll(' ', '-')}.mp3`)]
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'libmp3lame', '-id3v2_version', '0', plain)
  const tag = Buffer.from(isBefore ? 'ID3\x04\0\0\0\0\0\0' : `TAG${'\0'.repeat(125)}`, 'latin1')
  const [frames, row] = [await readFile(plain), Buffer.alloc(tags * tag.length, tag)]
  await writeFile(path, Buffer.concat(isBefore ? [row, frames] : [frames, row]))
  const { writer, declined } = writingFacts(await planOutput(await probe(path), { replaced: [0] }))
  expect(writer).toBe('remux')
  expect(declined).toContainEqual({ writer: 'frames', reason: 'it has more than 10000 tags in a row' })
})

/** A block of FLAC with these comments. */
const commentsOf = (list: Buffer) => {
  const head = Buffer.from('\x04\0\0\0\0\0\0\0\0\0\0\0', 'latin1')
  head.writeUIntBE(8 + list.length, 1, 3)
  head.writeUInt32LE(list.length / 4, 8)
  return Buffer.concat([head, list])
}

it.each([
  ['metadata blocks', '\x01\0\0\0', (row: Buffer) => row],
  ['comments', '\0\0\0\0', commentsOf],
])('leaves a FLAC to ffmpeg that has more %s than fit into memory', async (what, entry, inserted) => {
  const path = folder.file(`${what.replaceAll(' ', '-')}.flac`)
  await ffmpeg(...tone(1, 44_100, 1), path)
  const bytes = await readFile(path)
  const row = Buffer.alloc(500_001 * entry.length, entry, 'latin1')
  // Behind the marker and STREAMINFO.
  await writeFile(path, Buffer.concat([bytes.subarray(0, 42), inserted(row), bytes.subarray(42)]))
  const { writer, declined } = writingFacts(await planOutput(await probe(path), { replaced: [0] }))
  expect(writer).toBe('remux')
  expect(declined).toEqual([{ writer: 'frames', reason: `it has more than 500000 ${what}` }])
})

it('reads no more boxes of a movie than fit into memory', async () => {
  const path = folder.file('boxes.mp4')
  await writeFile(path, Buffer.alloc(8 * 500_001, box('free')))
  await using file = await open(path, 'r')
  await expect(readStructure(file, 8 * 500_001)).rejects.toThrow(new MalformedFile('it has more than 500000 boxes'))
})

it('keeps a tag whole that has more frames than fit into memory', () => {
  const frames = Buffer.alloc(10 * 500_001, 'TXXX\0\0\0\0\0\0', 'latin1')
  const tag = Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\0', 'latin1'), frames])
  expect(keepId3(tag, 0).entries).toEqual([expect.objectContaining({ path: 'ID3v2', length: tag.length })])
})

it('lists no more chunks of a WAV than a file can have', async () => {
  const path = folder.file('chunks.wav')
  await writeFile(path, Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(8 * 600_000, 'junk\0\0\0\0')]))
  await using file = await open(path, 'r')
  expect(await waveChunks(file)).toHaveLength(500_000)
})

it('reads the samples once, however many checksums of them a WAV has', async () => {
  const path = folder.file('checksums.wav')
  await ffmpeg(...tone(60, 48_000, 1), path)
  const checksum = Buffer.concat([Buffer.from('MD5 \x10\0\0\0', 'latin1'), Buffer.alloc(16, 'x')])
  const bytes = Buffer.concat([await readFile(path), Buffer.alloc(8000 * checksum.length, checksum)])
  bytes.writeUInt32LE(bytes.length - 8, 4)
  await writeFile(path, bytes)
  expect(writingFacts(await planOutput(await probe(path), { replaced: [0] })).writer).toBe('pcm-in-place')
})

it('renews more levels in a tag than a call may have arguments', async () => {
  const path = folder.file('levels.mp3')
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'libmp3lame', '-id3v2_version', '0', path)
  const frames = Buffer.from('RVA2\0\0\0\x0a\0\0track\0\x01\0\x02\0'.repeat(130_000), 'latin1')
  const size = [21, 14, 7, 0].map((bits) => (frames.length >> bits) & 0x7f)
  const tag = Buffer.concat([Buffer.from('ID3\x04\0\0', 'latin1'), Buffer.from(size), frames])
  await writeFile(path, Buffer.concat([tag, await readFile(path)]))
  expect(writingFacts(await planOutput(await probe(path), { replaced: [0] })).writer).toBe('frames')
})

it('names more tags between two frames of sound than a call may have arguments', async () => {
  const path = folder.file('between.mp3')
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'libmp3lame', '-id3v2_version', '0', path)
  const sound = await readFile(path)
  const tags = Buffer.from('ID3\x04\0\0\0\0\0\0'.repeat(130_000), 'latin1')
  await writeFile(path, Buffer.concat([sound, tags, sound]))
  expect(writingFacts(await planOutput(await probe(path), { replaced: [0] })).writer).toBe('frames')
})

it('names more tags of an AVI than a call may have arguments', async () => {
  const path = folder.file('tags.avi')
  await ffmpeg(...picture(1), ...tone(1, 44_100, 1), '-c:v', 'mjpeg', '-c:a', 'libmp3lame', path)
  const part = Buffer.from('IKEY\0\0\0\0', 'latin1')
  const list = Buffer.concat([Buffer.from('LIST\0\0\0\0INFO', 'latin1'), Buffer.alloc(130_000 * part.length, part)])
  list.writeUInt32LE(list.length - 8, 4)
  const bytes = Buffer.concat([await readFile(path), list])
  bytes.writeUInt32LE(bytes.length - 8, 4)
  await writeFile(path, bytes)
  const plan = await planOutput(await probe(path), { replaced: [0], keepOriginal: true })
  expect(writingFacts(plan).writer).toBe('remux')
})

it('leaves a movie to ffmpeg whose index has more boxes than fit into memory', async () => {
  const path = folder.file('boxes.m4a')
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'aac', '-movflags', '-faststart', path)
  const bytes = await readFile(path)
  const sizeAt = bytes.lastIndexOf('moov') - 4
  const empty = box('free')
  const added = Buffer.alloc(250_000 * empty.length, empty)
  bytes.writeUInt32BE(bytes.readUInt32BE(sizeAt) + added.length, sizeAt)
  await writeFile(path, Buffer.concat([bytes, added]))
  const { declined } = writingFacts(await planOutput(await probe(path), { replaced: [0] }))
  expect(declined).toEqual([{ writer: 'iso-bmff', reason: expect.stringContaining('more than 200000 boxes') }])
})

it.each([
  ['the segment', ''],
  ['its tags', '1254c367'],
  ['a cluster', '1f43b675'],
])('leaves a Matroska to ffmpeg that has more empty elements than fit into memory, in %s', async (where, id) => {
  const path = folder.file(`${where}.mka`)
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'aac', path)
  const bytes = await readFile(path)
  const sizeAt = bytes.indexOf('18538067', 0, 'hex') + 4
  const elements = Buffer.alloc(2 * 1_000_100, 'ec80', 'hex')
  const head = Buffer.from(id === '' ? '' : `${id}0100000000000000`, 'hex')
  if (head.length > 0) head.writeUInt32BE(elements.length, head.length - 4)
  const added = Buffer.concat([head, elements])
  bytes.writeBigUInt64BE(bytes.readBigUInt64BE(sizeAt) + BigInt(added.length), sizeAt)
  await writeFile(path, Buffer.concat([bytes, added]))
  const { declined } = writingFacts(await planOutput(await probe(path), { replaced: [0] }))
  expect(declined).toEqual([{ writer: 'matroska', reason: expect.stringContaining('more than 1000000 elements') }])
})
