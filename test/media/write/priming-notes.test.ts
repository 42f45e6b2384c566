import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it.each([
  // Written by ffmpeg, and into the file itself.
  ['low.ts', 8000, 'aac', ['the first 128 ms, because .ts cannot']],
  ['other.ogg', 48_000, 'libvorbis', ['the first 5 ms, because .mkv cannot']],
  ['other.opus', 48_000, 'libopus', []],
  ['bare.aac', 48_000, 'aac', ['the first 21 ms, because .aac cannot']],
  ['bare.ac3', 48_000, 'ac3', ['the first 5 ms, because .ac3 cannot']],
  ['stated.m4a', 8000, 'aac', []],
  ['stated.mp3', 48_000, 'libmp3lame', []],
  ['lossless.avi', 48_000, 'pcm_s16le', []],
])('names the sound of %s that the priming of its encoder replaces', async (name, rate, codec, expected) => {
  const path = folder.file(name)
  await ffmpeg(...tone(2, rate), '-c:a', codec, path)
  const container = name.startsWith('other') ? 'mkv' : undefined
  const { notes, losses } = await planOutput(await probe(path), { replaced: [0], container })
  expect(losses).toEqual([])
  const named = notes.filter((note) => note.includes('priming'))
  expect(named).toEqual(expected.map((text) => expect.stringContaining(text)))
})
