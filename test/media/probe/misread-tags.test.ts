import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

/** A WAV of 8 bits with a bext chunk of `bytes` zeros, before its sound. */
async function withBext(name: string, bytes: number): Promise<string> {
  const path = folder.file(name)
  await ffmpeg(...tone(1), '-c:a', 'pcm_u8', '-fflags', '+bitexact', '-map_metadata', '-1', path)
  const wave = await readFile(path)
  const data = wave.indexOf('data')
  const bext = Buffer.alloc(8 + bytes)
  bext.write('bext')
  bext.writeUInt32LE(bytes, 4)
  bext.write('Desk', 8 + 256)
  const made = Buffer.concat([wave.subarray(0, data), bext, wave.subarray(data)])
  made.writeUInt32LE(made.length - 8, 4)
  await writeFile(path, made)
  return path
}

it('takes no tags out of the samples behind a short bext chunk', async () => {
  expect((await probe(await withBext('short.wav', 300))).tags).toEqual({})
  expect((await probe(await withBext('whole.wav', 602))).tags).toMatchObject({ encoded_by: 'Desk' })
})
