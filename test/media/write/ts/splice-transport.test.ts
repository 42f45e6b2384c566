import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, picture } from '../../../helpers/media-factory.js'
import { audioPackets, splicedFile } from '../../../helpers/spliced-file.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { readPackets } from './read-transport.js'

const folder = folderOfTests()

/** A rising tone in noise that is the same in every run: it resembles itself at no other time. */
const wave = (from: number) => `0.3*sin(2*PI*t*(${from}+60*t))+0.05*(random(${from})-0.5)`
const sound = ['-f', 'lavfi', '-i', `aevalsrc=${wave(200)}|${wave(330)}:s=48000:d=6`]

/** Coders as far from those of voxmux as a file's own: AAC of ffmpeg with its default settings, AC-3 of a given rate. */
it.each([
  ['AAC', 'aac.ts', ['-c:a', 'aac', '-b:a', '128k']],
  ['AC-3', 'ac3.ts', ['-c:a', 'ac3', '-b:a', '192k']],
  ['AC-3 with arrival times', 'ac3.m2ts', ['-c:a', 'ac3', '-b:a', '192k']],
  ['E-AC-3', 'eac3.ts', ['-c:a', 'eac3', '-b:a', '192k']],
] as const)('keeps the packets of %s outside a changed part', async (_name, name, options) => {
  const path = folder.file(name)
  await ffmpeg(...picture(6), ...sound, '-c:v', 'mpeg2video', ...options, path)
  const { plan, part, splice, verify } = await splicedFile(path, [[2, 3]])
  expect(plan.writing).toMatchObject({ kind: 'bytes', writer: 'transport' })
  if (splice?.kind !== 'spliced') throw new Error(splice?.reason ?? 'not spliced')
  const verified = await verify()
  expect(verified.checks).toContain('packets outside the changed parts')
  const [before, after] = [await audioPackets(path), await audioPackets(part)]
  expect(after.map(({ pts }) => pts)).toEqual(before.map(({ pts }) => pts))
  const changed = before.flatMap(({ hash }, place) => (after[place]?.hash === hash ? [] : [place]))
  const isReplaced = (place: number) => splice.replaced.some(({ from, to }) => place >= from && place <= to)
  expect(changed.length).toBeGreaterThan(0)
  expect(changed.every(isReplaced)).toBe(true)
  // Packets before the first change are the same bytes.
  const size = name.endsWith('m2ts') ? 192 : 188
  const packets = [readPackets(await readFile(path), size), readPackets(await readFile(part), size)] as const
  const first = packets[0].findIndex(({ bytes }, place) => packets[1][place]?.bytes.equals(bytes) === false)
  expect(first).toBeGreaterThan(packets[0].length / 5)
})

it('encodes a track of MP3 from start to end, and says why', async () => {
  const path = folder.file('mp3.ts')
  await ffmpeg(...picture(6), ...sound, '-c:v', 'mpeg2video', '-c:a', 'libmp3lame', path)
  const { plan, splice, verify } = await splicedFile(path, [[2, 3]])
  expect(plan.notes.join()).toContain('frames of mp3 in a transport stream cannot be joined one by one')
  expect(splice).toBe(null)
  await verify()
})
