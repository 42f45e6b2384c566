import { open, readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { InterruptedError } from '../../../src/core/errors.js'
import { unreadParts } from '../../../src/media/probe/ends/ogg-parts.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()
beforeAll(async () => {
  for (const codec of ['vorbis', 'opus', 'flac']) await ffmpeg(...tone(1), '-c:a', encoders[codec] ?? '', part(codec))
  await ffmpeg(...picture(1), ...tone(1), '-c:v', 'libtheora', '-c:a', 'libvorbis', part('film'))
})

const encoders: Readonly<Record<string, string>> = { vorbis: 'libvorbis', opus: 'libopus', flac: 'flac' }
const part = (name: string) => folder.file(`${name}.ogg`)

async function joined(...names: readonly string[]): Promise<string> {
  const path = folder.file(`${names.join('-')}-joined.ogg`)
  await writeFile(path, Buffer.concat(await Promise.all(names.map((name) => readFile(part(name))))))
  return path
}

it.each([
  ['vorbis', 'opus'],
  ['flac', 'vorbis'],
  ['vorbis', 'film'],
  ['film', 'opus'],
])('refuses %s joined with %s, of which ffmpeg reads the first alone', async (...names) => {
  await expect(probe(await joined(...names))).rejects.toMatchObject({ code: 'ERR_CLOCK_JUMPS', errorCode: -2 })
})

it('leaves parts with one stream of the same codec to the check of their clock', async () => {
  expect(await probe(await joined('opus', 'opus'))).toMatchObject({ container: 'opus' })
})

it.each(['vorbis', 'film'])('reads a file of one part: %s', async (name) => {
  expect(await probe(part(name))).toMatchObject({ container: 'ogg' })
})

it('ends the search of a long file if the run is interrupted', async () => {
  await using file = await open(part('opus'))
  const search = unreadParts({ path: part('opus'), file, signal: AbortSignal.abort() })
  await expect(search).rejects.toBeInstanceOf(InterruptedError)
})
