import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ffmpeg, type TestFolder, testFolder, tone } from '../../helpers/media-factory.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'

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
