import { copyFile, open } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAt } from '../../../src/core/read-at.js'
import { keptDifferences } from '../../../src/media/verify/kept-differences.js'
import { verifyMux } from '../../../src/media/verify/verify-mux.js'
import { offsetMap } from '../../../src/media/write/byte-plan.js'
import { ffmpeg, picture, type TestFolder, testFolder, tone } from '../../helpers/media-factory.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

/** A file for each way in which bytes move: behind the sound, before and behind it, in place, and between packets. */
const FILES: readonly (readonly [name: string, ...options: readonly string[]])[] = [
  ['film.mp4', ...picture(1), '-map', '1', '-map', '0', '-c:v', 'mpeg4', '-c:a', 'aac', '-metadata', 'title=Film'],
  ['film.mkv', ...picture(1), '-map', '1', '-map', '0', '-c:v', 'mpeg4', '-c:a', 'flac', '-metadata', 'title=Film'],
  ['sound.mp3', '-metadata', 'title=Sound', '-write_id3v1', '1'],
  ['sound.wav', '-c:a', 'pcm_s16le', '-metadata', 'title=Sound'],
]

describe('bytes of kept structures', () => {
  it.each(FILES)('are compared, each of them, in %s', async (name, ...options) => {
    await ffmpeg(...tone(1), ...options, folder.file(name))
    const { plan, result, part } = await writtenFile(folder.file(name))
    const { census } = bytesWriting(plan)
    const { outputOffset } = offsetMap(result.layout ?? { pieces: [] })
    const kept = census.filter(({ fate }) => fate === 'kept')
    expect(kept.length).toBeGreaterThan(1)
    await using file = await open(part, 'r+')
    for (const { path, start, length } of kept) {
      const at = (outputOffset(start) ?? 0) + length - 1
      const [byte = 0] = await readAt(file, at, 1)
      await file.write(Buffer.of(byte ^ 1), 0, 1, at)
      expect(await keptDifferences(plan, result.layout, part, undefined)).toEqual([`the bytes of ${path}`])
      await file.write(Buffer.of(byte), 0, 1, at)
    }
    expect(await keptDifferences(plan, result.layout, part, undefined)).toEqual([])
  })

  it('fail the verification at either level', async () => {
    const path = folder.file('again.wav')
    await copyFile(folder.file('sound.wav'), path)
    const { plan, result, part } = await writtenFile(path)
    const tag = bytesWriting(plan).census.find(({ path: name }) => name === 'RIFF/WAVE/LIST')
    await using file = await open(part, 'r+')
    // The padding of a tag, which no reader shows.
    await file.write(Buffer.of(1), 0, 1, (tag?.start ?? 0) + (tag?.length ?? 0) - 1)
    for (const level of ['fast', 'full'] as const) {
      await expect(verifyMux(plan, result, part, { level })).rejects.toThrow('the bytes of RIFF/WAVE/LIST')
    }
  })
})
