import { open, readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { waveChunks } from '../../../src/media/probe/wave-chunks.js'
import { ffmpeg, ffmpegOutput, tone } from '../../helpers/media-factory.js'
import { WAVE_HEADER_BYTES, waveHeader } from '../../helpers/sound/wave-header.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()
let samples: Buffer
beforeAll(async () => {
  samples = await ffmpegOutput(...tone(2, 48_000, 2), '-f', 's16le', 'pipe:1')
})

/** A WAV as a recorder leaves it that lost its power: its header states no samples. */
function unfinished(riffSize: number): Buffer {
  const header = waveHeader(2, 48_000, 0)
  header.writeUInt32LE(riffSize, 4)
  return Buffer.concat([header, samples])
}

it.each([
  ['states no samples', 36],
  ['states no sizes at all', 0],
])('writes a WAV whose header %s where its samples are', async (name, riffSize) => {
  const path = folder.file(`${name}.wav`)
  await writeFile(path, unfinished(riffSize))
  const { plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('pcm-in-place')
  expect(census.map(({ path: structure, fate }) => `${structure} ${fate}`)).toEqual([
    'RIFF/WAVE kept',
    'RIFF/WAVE/fmt kept',
    'RIFF/WAVE/data rewritten',
  ])
  for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
  const [before, after] = [await readFile(path), await readFile(part)]
  expect(after.length).toBe(before.length)
  expect(after.subarray(0, WAVE_HEADER_BYTES)).toEqual(before.subarray(0, WAVE_HEADER_BYTES))
})

it('leaves nothing of the old sound in a WAV of ADPCM whose header states no samples', async () => {
  const path = folder.file('adpcm.wav')
  await ffmpeg(...tone(2, 48_000, 2), '-c:a', 'adpcm_ms', '-fflags', '+bitexact', path)
  const bytes = await readFile(path)
  const data = bytes.indexOf('data')
  bytes.writeUInt32LE(0, data + 4)
  await writeFile(path, bytes)
  const { part } = await writtenFile(path)
  expect((await readFile(part)).includes(bytes.subarray(data + 8, data + 1000))).toBe(false)
})

/** A WAV whose outermost size is wrong, as a recorder leaves it that never came back to its head. */
async function wronglyEnded(name: string, size: number, ...options: readonly string[]): Promise<string> {
  const path = folder.file(name)
  await ffmpeg(...tone(2, 48_000, 2), ...options, path)
  const bytes = await readFile(path)
  bytes.writeUInt32LE(size, 4)
  await writeFile(path, bytes)
  return path
}

const WRONG_ENDS = [
  ['before its samples', 20],
  ['behind the file', 0x4000_0000],
] as const

it.each(WRONG_ENDS)('writes a WAV whose size ends %s where its samples are', async (where, size) => {
  const { plan } = await writtenFile(await wronglyEnded(`${where}.wav`, size))
  expect(bytesWriting(plan).writer).toBe('pcm-in-place')
})

it.each(WRONG_ENDS)('leaves nothing of the old sound in a WAV of ADPCM whose size ends %s', async (where, size) => {
  const path = await wronglyEnded(`${where} adpcm.wav`, size, '-c:a', 'adpcm_ms')
  const { part } = await writtenFile(path)
  const old = (await readFile(path)).subarray(1000, 2000)
  expect((await readFile(part)).includes(old)).toBe(false)
})

it.each([
  ['wav', (bytes: Buffer) => bytes.writeUInt32LE(bytes.length, 4)],
  ['aiff', (bytes: Buffer) => bytes.writeUInt32BE(bytes.length, 4)],
  ['avi', (bytes: Buffer) => bytes.writeUInt32LE(bytes.length, 4)],
])('takes a .%s whose size counts its own head', async (extension, state) => {
  const path = folder.file(`counted.${extension}`)
  await ffmpeg(...tone(2, 48_000, 2), path)
  const bytes = await readFile(path)
  state(bytes)
  await writeFile(path, bytes)
  const { plan, verified } = await writtenFile(path)
  expect(plan.writing.kind).toBe('bytes')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(48)
  // A file that ends within a chunk is not whole.
  await writeFile(path, bytes.subarray(0, -20))
  await expect(probe(path)).rejects.toMatchObject({ code: 'ERR_UNREADABLE', errorCode: -2 })
})

it('writes an AIFF that SoX wrote into a pipe where its samples are', async () => {
  const path = folder.file('piped.aiff')
  await ffmpeg(...tone(2, 48_000, 2), path)
  const bytes = await readFile(path)
  bytes.writeUInt32BE(0x7f00_0050, 4)
  bytes.writeUInt32BE(0x7f00_0000 / 4, bytes.indexOf('COMM') + 10)
  bytes.writeUInt32BE(0x7f00_0008, bytes.indexOf('SSND') + 4)
  await writeFile(path, bytes)
  const { media, plan, part, verified } = await writtenFile(path)
  expect(media.durationSec).toBeCloseTo(2, 3)
  expect(bytesWriting(plan).writer).toBe('pcm-in-place')
  for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
  const [after, samplesAt] = [await readFile(part), bytes.indexOf('SSND') + 16]
  expect(after.length).toBe(bytes.length)
  expect(after.subarray(0, samplesAt)).toEqual(bytes.subarray(0, samplesAt))
})

it.each([
  ['pipe', 0xffff_ffff, 'pcm-in-place', []],
  ['behind', 400, 'remux', ['AU/annotation', 'trailing bytes']],
])('names each part of an AU file (%s)', async (name, dataSize, writer, lost) => {
  const path = folder.file(`${name}.au`)
  const head = Buffer.alloc(40, 'annotation text\0')
  head.write('.snd')
  for (const [place, value] of [40, dataSize, 3, 48_000, 2].entries()) head.writeUInt32BE(value, 4 + 4 * place)
  await writeFile(path, Buffer.concat([head, Buffer.from(samples).swap16()]))
  const { plan, part, verified } = await writtenFile(path)
  expect(plan.writing.kind === 'bytes' ? plan.writing.writer : plan.writing.kind).toBe(writer)
  expect(plan.losses.map(({ what }) => what)).toEqual(lost)
  for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples ?? 0).toBe(0)
  if (writer !== 'remux') expect((await readFile(part)).subarray(0, 40)).toEqual(head)
})

const TAG = Buffer.from('ID3\x03\0\0\0\0\0\x15TIT2\0\0\0\x0b\0\0\0Some title', 'latin1')

it.each([
  ['a WAV of silence from a pipe', 0xffff_ffff, ['fmt ', 'data'], Buffer.alloc(0)],
  ['a WAV of silence without sizes', 0, ['fmt ', 'data'], Buffer.alloc(0)],
  ['a WAV behind an ID3 tag', 4000, [], TAG],
])('reads no chunks out of the samples of %s', async (name, dataSize, ids, tag) => {
  const path = folder.file(`${name}.wav`)
  const header = waveHeader(2, 48_000, 0)
  header.writeUInt32LE(dataSize, WAVE_HEADER_BYTES - 4)
  await writeFile(path, Buffer.concat([tag, header, Buffer.alloc(4000)]))
  await using file = await open(path, 'r')
  expect((await waveChunks(file)).map(({ id }) => id)).toEqual(ids)
})
