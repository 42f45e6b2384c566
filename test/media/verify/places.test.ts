import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { verifyMux } from '../../../src/media/verify/verify-mux.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()

const FILM = [...picture(3), ...tone(3, 48_000, 2), '-map', '1', '-map', '0', '-shortest', '-g', '10']
const CODECS = ['-c:v', 'mpeg4', '-c:a', 'aac']

/** A number that leads somewhere: the mark before it, the bytes between, and its own bytes. */
type Entry = readonly [index: string, mark: string, behind: number, width: number]

const CLUSTER: Entry = ['Cues', '\xf7\x81\x02\xf1\x82', 0, 2]
const FRAGMENT: Entry = ['tfra', 'tfra', 24, 4]
const FRAGMENTS = 'frag_keyframe+empty_moov+default_base_moof'
/** Of the last entry in `Cues`: its cluster, its block and its time. */
const CUE: readonly Entry[] = [CLUSTER, ['Cues', '\xf0\x82', 0, 2], ['Cues', '\xb3\x82', 0, 2]]
const FILES: readonly (readonly [name: string, flags: string, entries: readonly Entry[]])[] = [
  ['film.mkv', '', [['SeekHead', '\x1c\x53\xbb\x6b\x53\xac', 1, 2], ...CUE]],
  ['dash.mp4', 'dash+frag_keyframe+global_sidx', [['sidx', 'sidx', 32, 4]]],
  ['fragments.mp4', FRAGMENTS, [FRAGMENT]],
  ['film.mp4', 'faststart', [['the index of track 2', 'stco', 8, 4]]],
]

async function madeFile(name: string, flags: string): Promise<string> {
  const path = folder.file(name)
  await ffmpeg(...FILM, ...CODECS, ...(flags === '' ? [] : ['-movflags', flags]), path)
  return path
}

async function mislead(path: string, bytes: Buffer, [, mark, behind, width]: Entry): Promise<void> {
  const copy = Buffer.from(bytes)
  const at = copy.lastIndexOf(mark, undefined, 'latin1') + mark.length + behind
  copy.writeUIntBE(copy.readUIntBE(at, width) + 1, at, width)
  await writeFile(path, copy)
}

it.each(FILES)('finds each index of %s that leads elsewhere', async (name, flags, entries) => {
  const { plan, result, part } = await writtenFile(await madeFile(name, flags))
  expect(bytesWriting(plan).writer).toMatch(/iso-bmff|matroska/)
  const bytes = await readFile(part)
  for (const entry of entries) {
    await mislead(part, bytes, entry)
    const verified = verifyMux(plan, result, part, { level: 'fast' })
    await expect(verified).rejects.toThrow(`the places in ${entry[0]}`)
  }
})

it.each([
  ['film.mkv', '', CLUSTER],
  ['fragments.mp4', FRAGMENTS, FRAGMENT],
] as const)('lets an entry lead nowhere that did so before, in %s', async (name, flags, entry) => {
  const path = await madeFile(name, flags)
  await mislead(path, await readFile(path), entry)
  const { plan } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toMatch(/iso-bmff|matroska/)
})
