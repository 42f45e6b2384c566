import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PcmFile, readPcmFile, readPcmParts, writeBuffers } from '../../../src/media/pcm/pcm-file.js'
import { PcmReader } from '../../../src/media/pcm/pcm-reader.js'
import { type TestFolder, testFolder } from '../../helpers/media-factory.js'
import { collectPcm } from '../../helpers/sound/pcm-buffers.js'

let folder: TestFolder
let file: PcmFile
/** Longer than several reads, and not a multiple of one. */
const SAMPLES = 70_001

beforeAll(async () => {
  folder = await testFolder()
  const bytes = Buffer.alloc(SAMPLES * 4)
  for (let sample = 0; sample < SAMPLES; sample++) {
    bytes.writeInt16LE((sample % 65_536) - 32_768, 4 * sample)
    bytes.writeInt16LE((sample * 7) % 32_768, 4 * sample + 2)
  }
  await writeFile(folder.file('raw'), bytes)
  const format = { sampleRate: 48_000, channels: 2, channelLayout: 'stereo', sample: 's16' } as const
  file = { path: folder.file('raw'), format, sampleCount: SAMPLES }
})
afterAll(() => folder.remove())

it('gives every sample of a file, in its own type or in another and back', async () => {
  const bytes = await readFile(file.path)
  expect((await collectPcm(readPcmFile(file))).equals(bytes)).toBe(true)
  const floats = folder.file('floats')
  await writeFile(floats, await collectPcm(readPcmFile(file, { sample: 'f32' })))
  const back = readPcmFile({ ...file, path: floats, format: { ...file.format, sample: 'f32' } }, { sample: 's16' })
  expect((await collectPcm(back)).equals(bytes)).toBe(true)
})

it('gives amounts that end anywhere, and takes up the rest after samples that were skipped', async () => {
  const bytes = await readFile(file.path)
  const reader = new PcmReader(readPcmFile(file))
  const parts: Buffer[] = []
  for (const amount of [1, 65_535, 3, 2000]) parts.push(Buffer.from(await reader.read(amount)))
  await reader.skip(1500)
  for (const amount of [70_000, 1]) parts.push(Buffer.from(await reader.read(amount)))
  expect(parts.map((part) => part.length / 4)).toEqual([1, 65_535, 3, 2000, SAMPLES - 69_039, 0])
  const wanted = Buffer.concat([bytes.subarray(0, 4 * 67_539), bytes.subarray(4 * 69_039)])
  expect(Buffer.concat(parts).equals(wanted)).toBe(true)
})

it('writes what it reads, and no file twice', async () => {
  const copy = folder.file('copy')
  await writeBuffers(readPcmFile(file).buffers(), copy, undefined)
  expect((await readFile(copy)).equals(await readFile(file.path))).toBe(true)
  await expect(writeBuffers(readPcmFile(file).buffers(), copy, undefined)).rejects.toThrow('EEXIST')
})

it('gives parts of exactly their length, with silence outside of the file', async () => {
  const bytes = await readFile(file.path)
  const silence = (samples: number) => Buffer.alloc(4 * samples)
  const parts: Buffer[] = []
  const ranges = [
    [-10, 5],
    [SAMPLES - 3, SAMPLES + 4],
    [100, 50_000],
    [-9, -2],
    [SAMPLES + 1, SAMPLES + 3],
  ].map(([startSample = 0, endSample = 0]) => ({ startSample, endSample }))
  for await (const part of readPcmParts(file, ranges)) parts.push(Buffer.from(part))
  expect(parts.map((part) => part.length / 4)).toEqual([15, 7, 49_900, 7, 2])
  const wanted = [
    Buffer.concat([silence(10), bytes.subarray(0, 20)]),
    Buffer.concat([bytes.subarray(-12), silence(4)]),
    bytes.subarray(400, 200_000),
    silence(7),
    silence(2),
  ]
  for (const [place, part] of parts.entries()) expect(part.equals(wanted[place] as Buffer)).toBe(true)
})

it('throws if the file is shorter than it was', async () => {
  const longer = { ...file, sampleCount: SAMPLES + 1 }
  await expect(collectPcm(readPcmFile(longer))).rejects.toThrow('ends before its last sample')
})
