import { appendFile, open, readFile, stat, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { uint32BE } from '../../../src/media/number-bytes.js'
import { aviPlaces } from '../../../src/media/verify/places/avi-places.js'
import { chunkPlaces } from '../../../src/media/verify/places/chunk-places.js'
import { misledIndices } from '../../../src/media/verify/places/stated-place.js'
import { verifyMux } from '../../../src/media/verify/verify-mux.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'
import { box } from '../movie-boxes.js'
import { streamList } from '../write/avi/made-avi.js'
import { openDmlFile } from '../write/avi/made-open-dml.js'

const folder = folderOfTests()

const FILM = [...picture(3), ...tone(3, 48_000, 2), '-map', '1', '-map', '0', '-shortest', '-g', '10']
const CODECS = ['-c:v', 'mpeg4', '-c:a', 'aac']

/** A number that leads somewhere: the mark before it, the bytes between, its own bytes, and what is added to it. */
type Entry = readonly [index: string, mark: string, behind: number, width: number, more?: number]

const CLUSTER: Entry = ['Cues', '\xf7\x81\x02\xf1\x82', 0, 2]
const FRAGMENT: Entry = ['tfra', 'tfra', 24, 4]
const FRAGMENTS = 'frag_keyframe+empty_moov+default_base_moof'
/** Of the last entry in `Cues`: its cluster, its block and its time. */
const CUE: readonly Entry[] = [CLUSTER, ['Cues', '\xf0\x82', 0, 2], ['Cues', '\xb3\x82', 0, 2]]
/** Of the last cluster: its size. Of the last element with a checksum: the checksum. */
const WHOLE: readonly Entry[] = [
  ['the sizes in Segment', '\x1f\x43\xb6\x75', 0, 2],
  ['the checksums', '\xbf\x84', 0, 4],
]
const FILES: readonly (readonly [name: string, flags: string, entries: readonly Entry[]])[] = [
  [
    'opus.mkv',
    '',
    [
      ['the priming of Opus', '\x56\xaa\x83', 0, 1, 32],
      ['the priming of Opus', 'OpusHea', 0, 1],
    ],
  ],
  ['film.mkv', '', [['SeekHead', '\x1c\x53\xbb\x6b\x53\xac', 1, 2], ...CUE, ...WHOLE]],
  [
    'dash.mp4',
    'dash+frag_keyframe+global_sidx',
    [
      ['sidx', 'sidx', 32, 4],
      ['sidx', 'sidx\x01\0\0\0\0\0\0\x01', 28, 1],
    ],
  ],
  ['fragments.mp4', FRAGMENTS, [FRAGMENT]],
  [
    'film.mp4',
    'faststart',
    [
      ['the index of track 2', 'stco', 8, 4],
      ['the length of track 1', 'soun', -28, 1],
      ['the sizes in moov', 'stbl', -6, 2],
    ],
  ],
  [
    'item.mp4',
    'faststart',
    [
      ['iloc', 'iloc', 14, 4],
      ['the sizes of boxes', 'mdat', -6, 2],
    ],
  ],
  [
    'film.avi',
    '',
    [
      ['idx1 of "01dc"', '01dc', 4, 2],
      // A picture that no player seeks to, and sound that no player finds.
      ['idx1 of "01dc"', '01dc\x10\0\0\0', -4, 1, 16],
      ['idx1 of "01wb"', '00wb', -3, 1],
      ['idx1 of "00wb"', 'idx1', 12, 2],
      ['the sizes of chunks', 'RIFF', 1, 1, -1],
    ],
  ],
  [
    'sound.wav',
    '',
    [
      ['the sizes of chunks', 'RIFF', 1, 1, -1],
      ['the sizes of chunks', 'data', 1, 1, -1],
      ['the channels and the rate in fmt', 'fmt ', 6, 1],
      ['the channels and the rate in fmt', 'fmt ', 9, 1],
    ],
  ],
]

/** Files of other content than the film. */
const CONTENTS: Readonly<Record<string, readonly string[]>> = {
  'sound.wav': [...tone(3, 48_000, 2), '-c:a', 'libmp3lame'],
  'opus.mkv': [...tone(3, 48_000, 2), '-c:a', 'libopus', '-write_crc32', '0'],
}

async function madeFile(name: string, flags: string): Promise<string> {
  const path = folder.file(name)
  const content = CONTENTS[name] ?? [...FILM, ...CODECS]
  await ffmpeg(...content, ...(flags === '' ? [] : ['-movflags', flags]), path)
  if (name === 'item.mp4') await appendItem(path)
  return path
}

/** Appends bytes, and a table that names them as an item. */
async function appendItem(path: string): Promise<void> {
  const at = (await stat(path)).size + 8
  const table = Buffer.concat([Buffer.from([0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1]), uint32BE(at, 12)])
  const meta = box('meta', Buffer.concat([uint32BE(0), box('hdlr', Buffer.alloc(20)), box('iloc', table)]))
  await appendFile(path, Buffer.concat([box('mdat', Buffer.from('twelve bytes')), meta]))
}

async function mislead(path: string, bytes: Buffer, [, mark, behind, width, more = 1]: Entry): Promise<void> {
  const copy = Buffer.from(bytes)
  const at = copy.lastIndexOf(mark, undefined, 'latin1') + mark.length + behind
  copy.writeUIntBE(copy.readUIntBE(at, width) + more, at, width)
  await writeFile(path, copy)
}

it.each(FILES)('finds each index of %s that leads elsewhere', async (name, flags, entries) => {
  const { plan, result, part } = await writtenFile(await madeFile(name, flags))
  expect(bytesWriting(plan).writer).toMatch(/iso-bmff|matroska|avi|chunks/)
  const bytes = await readFile(part)
  // The fields of a box whose children change stay.
  expect(bytes.includes('meta\0\0\0\0\0\0\0\x1chdlr', 0, 'latin1')).toBe(name === 'item.mp4')
  for (const entry of entries) {
    await mislead(part, bytes, entry)
    const verified = verifyMux(plan, result, part, { level: 'fast' })
    await expect(verified).rejects.toThrow(entry[0])
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

it.each([
  ['super', 'ix00', 28],
  ['standard', 'indx', 28],
  ['super', 'indx', 28],
] as const)('finds an index of OpenDML that leads elsewhere: %s, %s', async (form, mark, behind) => {
  const path = folder.file('parts.avi')
  const streams = [streamList('vids', 25, Buffer.alloc(40), []), streamList('auds', 20, Buffer.alloc(18, 1), [])]
  const packets = ['00dc', '01wb', '00dc', '01wb'].map((id) => ({ id, body: Buffer.from(`a packet of ${id}`) }))
  const made = {
    before: [],
    behind: [],
    spare: 0,
    trailing: 0,
    base: 'list',
    oldIndices: 'none',
    oldFrom: 'list',
  } as const
  const headers = [{ id: 'avih', body: Buffer.alloc(56) }, ...streams]
  const bytes = openDmlFile({ ...made, form, headers, streams: ['00dc', '01wb'], parts: [[packets]] })
  const placesOf = async (content: Buffer) => {
    await writeFile(path, content)
    await using file = await open(path)
    return await aviPlaces(file, new Set([0]))
  }
  const before = await placesOf(bytes)
  expect(misledIndices(before, before)).toEqual([])
  bytes.writeUInt8((bytes[bytes.indexOf(mark) + 4 + behind] as number) + 1, bytes.indexOf(mark) + 4 + behind)
  expect(misledIndices(before, await placesOf(bytes))).toEqual(['the places in indx of stream 0'])
})

it.each([
  ['is not judged', [0, 0, 0, 0], null],
  ['is right', [4, 0, 0, 0], ''],
  ['is wrong', [2, 0, 0, 0], null],
])('the size of a WAV %s whose samples state %j', async (_, size, leadsTo) => {
  const path = folder.file('sizes.wav')
  const samples = Buffer.concat([Buffer.from('data'), Buffer.from(size), Buffer.alloc(4)])
  await writeFile(path, Buffer.concat([Buffer.from('RIFF\x10\0\0\0WAVE', 'latin1'), samples]))
  await using file = await open(path)
  expect(await chunkPlaces(file)).toEqual([{ by: 'the sizes of chunks', leadsTo }])
})

it.each([
  ['read behind a thousand chunks', 1000, 1],
  ['not looked for behind 20,000', 20_000, 0],
] as const)('an index of an AVI is %s', async (_, chunks, count) => {
  const path = folder.file('many-chunks.avi')
  const index = Buffer.concat([Buffer.from('idx1'), Buffer.from([16, 0, 0, 0]), Buffer.from('00dc'), Buffer.alloc(12)])
  await writeFile(path, Buffer.concat([Buffer.alloc(8 * chunks), index]))
  await using file = await open(path)
  expect(await aviPlaces(file, new Set())).toHaveLength(count)
})
