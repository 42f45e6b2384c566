import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

/** A WAV with a second chunk of samples behind its first. */
async function withSecond(name: string, samples: Buffer): Promise<string> {
  const path = folder.file(name)
  await ffmpeg(...tone(1), '-bitexact', path)
  const wave = await readFile(path)
  const head = Buffer.from('data\0\0\0\0')
  head.writeUInt32LE(samples.length, 4)
  const joined = Buffer.concat([wave, head, samples])
  joined.writeUInt32LE(joined.length - 8, 4)
  await writeFile(path, joined)
  return path
}

it('refuses a WAV with two chunks of samples, of which each program plays another', async () => {
  const path = await withSecond('two.wav', Buffer.alloc(96_000, 1))
  await expect(probe(path)).rejects.toMatchObject({ code: 'ERR_UNREADABLE', errorCode: -2 })
  await expect(probe(path)).rejects.toThrow(/two chunks of samples/)
})

it('refuses a second chunk without samples too, because ffmpeg then plays nothing', async () => {
  await expect(probe(await withSecond('empty.wav', Buffer.alloc(0)))).rejects.toMatchObject({ errorCode: -2 })
})
