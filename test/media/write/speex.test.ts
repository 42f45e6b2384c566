import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, type TestFolder, testFolder, tone } from '../../helpers/media-factory.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'
import { checksumOf } from '../checksum.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

it.each([
  // One page of Ogg holds all of the first.
  [8000, 1, 0.9],
  [8000, 1, 3],
  [16_000, 2, 3],
  [32_000, 1, 3],
])('keeps Speex of %i Hz and %i channels in place, with its comment', async (rate, channels, sec) => {
  const path = folder.file(`speech-${rate}-${sec}.spx`)
  await ffmpeg(...tone(sec, rate, channels), '-c:a', 'libspeex', '-metadata', 'title=A title', path)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('frames')
  expect(plan.streams.map((stream) => (stream.fate === 'replaced' ? stream.encoding.codec : null))).toEqual(['speex'])
  expect(plan.losses).toEqual([])
  expect((await readFile(part)).includes('title=A title')).toBe(true)
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(rate / 1000)
})

it.each([48_000, 11_025])('refuses Speex of %i Hz, which no encoder of ffmpeg writes', async (rate) => {
  const [plain, path] = [folder.file('plain.spx'), folder.file(`strange-${rate}.spx`)]
  await ffmpeg(...tone(3, 32_000, 1), '-c:a', 'libspeex', plain)
  const bytes = await readFile(plain)
  bytes.writeUInt32LE(rate, bytes.indexOf('Speex   ') + 36)
  await writeFile(path, withFirstChecksum(bytes))
  await expect(probe(path).then((media) => planOutput(media, { replaced: [0] }))).rejects.toMatchObject({
    code: 'ERR_CONTAINER_UNKNOWN',
    remedies: [expect.stringContaining('--output-type flac')],
  })
})

/** The Ogg with the right checksum in its first page. */
function withFirstChecksum(bytes: Buffer): Buffer {
  const end = bytes.indexOf('OggS', 4)
  bytes.writeUInt32LE(0, 22)
  bytes.writeUInt32LE(checksumOf(bytes.subarray(0, end), 0), 22)
  return bytes
}
