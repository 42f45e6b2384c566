import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, type TestFolder, testFolder, tone } from '../../helpers/media-factory.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

it('refuses a WAV with the high byte first (RIFX), which ffmpeg decodes as noise', async () => {
  const [plain, path] = [folder.file('plain.wav'), folder.file('rifx.wav')]
  await ffmpeg(...tone(1), '-c:a', 'pcm_s16le', '-fflags', '+bitexact', plain)
  const bytes = await readFile(plain)
  bytes.write('X', 3)
  // The sizes, then the fields of the format.
  for (const at of [4, 16, 24, 28, 40]) bytes.subarray(at, at + 4).reverse()
  for (const at of [20, 22, 32, 34]) bytes.subarray(at, at + 2).reverse()
  bytes.subarray(44).swap16()
  await writeFile(path, bytes)
  await expect(probe(path)).rejects.toMatchObject({
    ...{ code: 'ERR_UNSUPPORTED_CODEC', errorCode: -7 },
    remedies: [expect.stringContaining('-c:a pcm_s16be -i in.wav')],
  })
  const turned = folder.file('turned.wav')
  await ffmpeg('-c:a', 'pcm_s16be', '-i', path, '-c:a', 'pcm_s16le', '-fflags', '+bitexact', turned)
  expect((await readFile(turned)).equals(await readFile(plain))).toBe(true)
})
