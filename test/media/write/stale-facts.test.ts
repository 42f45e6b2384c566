import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { censusFaults } from '../../../src/media/write/census.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { splicedFile } from '../../helpers/spliced-file.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'
import { ape, id3, id3Frame, withChunk } from './made-tags.js'

const folder = folderOfTests()

const TAGS = { title: 'A title', MP3GAIN_UNDO: '+003,+003,N', artist: 'A name', R128_TRACK_GAIN: '-3 dB' }
const metadata = Object.entries(TAGS).flatMap(([name, value]) => ['-metadata', `${name}=${value}`])

it.each([
  ['flac', ['-c:a', 'flac']],
  ['ogg', ['-c:a', 'libvorbis']],
  ['opus', ['-c:a', 'libopus']],
  ['oga', ['-c:a', 'flac']],
  ['mp3', ['-c:a', 'libmp3lame']],
  ['mp3', ['-c:a', 'libmp3lame', '-id3v2_version', '3']],
])('leaves the level of the old sound that cannot be renewed out of .%s, and names it', async (extension, options) => {
  const path = folder.file(`level.${extension}`)
  await ffmpeg(...tone(2, 48_000, 2), ...options, ...metadata, path)
  const { plan, part } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('frames')
  expect(plan.losses.map(({ what }) => what.split(':')[1]).sort()).toEqual(['MP3GAIN_UNDO', 'R128_TRACK_GAIN'])
  expect(censusFaults(census, (await readFile(path)).length)).toEqual([])
  const { tags } = await probe(part)
  expect(tags).toMatchObject({ title: TAGS.title, artist: TAGS.artist })
  expect(Object.keys(tags).filter((name) => name.toUpperCase() in TAGS)).toEqual([])
  await ffmpeg('-xerror', '-err_detect', 'crccheck+bitstream+buffer', '-i', part, '-f', 'null', '-')
})

it('leaves it out of a .opus of which only a part changes', async () => {
  const path = folder.file('part.opus')
  await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'libopus', ...metadata, path)
  const { splice, part, verify } = await splicedFile(path, [[1, 1.5]])
  expect(splice).toMatchObject({ kind: 'spliced' })
  await verify()
  expect((await probe(part)).tags).toMatchObject({ title: TAGS.title, artist: TAGS.artist })
  expect(Object.keys((await probe(part)).tags)).not.toContain('R128_TRACK_GAIN')
})

it('names it for another container, too', async () => {
  const path = folder.file('other.flac')
  const gapless = 'iTunSMPB= 00000000 00000840 0000037C 0000000000021D80'
  await ffmpeg(...tone(1, 48_000, 2), ...metadata, '-metadata', gapless, path)
  const { plan, part } = await writtenFile(path, { container: 'm4a' })
  const stale = ['tag MP3GAIN_UNDO', 'tag R128_TRACK_GAIN', 'tag iTunSMPB']
  expect(plan.losses.map(({ what }) => what).sort()).toEqual(stale.sort())
  expect((await probe(part)).tags).toMatchObject({ title: TAGS.title, artist: TAGS.artist })
  const output = await readFile(part)
  expect(['GAIN_', 'iTunSMPB'].map((name) => output.includes(name))).toEqual([false, false])
})

it('leaves out what iTunes, mp3gain and relative volume say of an MP3', async () => {
  const sound = folder.file('plain.mp3')
  await ffmpeg(...tone(2, 44_100, 2), '-c:a', 'libmp3lame', '-id3v2_version', '0', sound)
  const wide = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
  const title = id3Frame('TIT2', Buffer.from('\0A title'))
  const comment = id3Frame('COMM', Buffer.from('\0eng\0A comment'))
  const gain = Buffer.concat([Buffer.from([1]), wide('replaygain_track_gain\0'), wide('-7 dB')])
  const stale = [
    id3Frame('TXXX', gain),
    id3Frame('COMM', Buffer.from('\0engiTunNORM\0 00000A21')),
    id3Frame('COMM', Buffer.from('\0engiTunSMPB\0 00000000')),
    id3Frame('RVA2', Buffer.from('track\0\x01\xfe\0\x10\x12\x34', 'latin1')),
  ]
  const path = folder.file('stale.mp3')
  const items = { MP3GAIN_UNDO: '+003,+003,N', Title: 'A title', REPLAYGAIN_TRACK_RANGE: '5 dB' }
  await writeFile(path, Buffer.concat([id3(title, ...stale, comment), await readFile(sound), ape(items)]))
  const { plan, part } = await writtenFile(path)
  expect(plan.losses.map(({ what }) => what)).toEqual([
    ...['ID3v2/TXXX:replaygain_track_gain', 'ID3v2/COMM:iTunNORM', 'ID3v2/COMM:iTunSMPB', 'ID3v2/RVA2'],
    ...['APE/item:MP3GAIN_UNDO', 'APE/item:REPLAYGAIN_TRACK_RANGE'],
  ])
  const output = await readFile(part)
  const padding = Buffer.alloc(stale.reduce((sum, { length }) => sum + length, 0))
  expect(output.subarray(0, 4000).includes(id3(title, comment, padding))).toBe(true)
  const kept = ape({ Title: 'A title' })
  expect(output.subarray(-kept.length)).toEqual(kept)
})

/** A tag of another version than 2.3. @param sized the head of a frame: its id, size and flags */
function otherId3(
  [version, flags]: readonly [number, number],
  sized: (id: string, size: number) => Buffer,
  frames: readonly (readonly [string, Buffer])[],
): Buffer {
  const tag = id3(...frames.map(([id, body]) => Buffer.concat([sized(id, body.length), body])))
  tag[3] = version
  tag[5] = flags
  return tag
}

/** Puts a zero behind each 0xFF of a tag. */
function unsynchronised(tag: Buffer): Buffer {
  const bytes = [...tag.subarray(10)].flatMap((byte) => (byte === 0xff ? [byte, 0] : [byte]))
  const made = id3(Buffer.from(bytes))
  made[5] = 0x80
  return made
}

const GAIN = Buffer.concat([Buffer.from([1]), Buffer.from('\ufeffreplaygain_track_gain\0\ufeff-7 dB', 'utf16le')])
const short = (id: string, size: number) => Buffer.from([...Buffer.from(id), size >> 16, size >> 8, size])
const long = (id: string, size: number) => Buffer.from([...Buffer.from(id), 0, 0, size >> 7, size & 0x7f, 0, 0])
const plain = (id: string, size: number) => Buffer.from([...Buffer.from(id), 0, 0, size >> 8, size, 0, 0])
const TITLE = Buffer.from('\0A title')
const NORM = Buffer.from('\0engiTunNORM\0 00000A21')
const OBJECT = Buffer.concat([Buffer.from('a name\0'), Buffer.alloc(200, 0xff)])

it.each([
  [
    'version 2.2',
    otherId3([2, 0], short, [
      ['TT2', TITLE],
      ['TXX', GAIN],
      ['COM', NORM],
      ['RVA', Buffer.alloc(6, 1)],
      ['TP1', TITLE],
    ]),
    ['TXX:replaygain_track_gain', 'COM:iTunNORM', 'RVA'],
    ['TT2', 'TP1'],
  ],
  [
    'unsynchronisation',
    unsynchronised(
      id3(id3Frame('TIT2', TITLE), id3Frame('PRIV', OBJECT), id3Frame('TXXX', GAIN), id3Frame('TPE1', TITLE)),
    ),
    ['TXXX:replaygain_track_gain'],
    ['TIT2', 'PRIV', 'TPE1'],
  ],
  [
    'an extended header',
    otherId3([4, 0x40], (id, size) => (id === 'head' ? Buffer.from([0, 0, 0, 6, 1, 0]) : long(id, size)), [
      ['head', Buffer.alloc(0)],
      ['TIT2', TITLE],
      ['TXXX', GAIN],
      ['TPE1', TITLE],
    ]),
    ['TXXX:replaygain_track_gain'],
    ['TIT2', 'TPE1'],
  ],
  [
    'sizes as iTunes wrote them',
    otherId3([4, 0], plain, [
      ['TIT2', TITLE],
      ['PRIV', OBJECT],
      ['TXXX', GAIN],
      ['TPE1', TITLE],
    ]),
    ['TXXX:replaygain_track_gain'],
    ['TIT2', 'PRIV', 'TPE1'],
  ],
])('leaves stale facts out of a tag with %s', async (name, tag, lost, keeps) => {
  const sound = folder.file('untagged.mp3')
  await ffmpeg('-y', ...tone(1, 44_100, 1), '-c:a', 'libmp3lame', '-id3v2_version', '0', sound)
  const path = folder.file(`${name}.mp3`)
  await writeFile(path, Buffer.concat([tag, await readFile(sound)]))
  const { plan, part } = await writtenFile(path)
  expect(plan.losses.map(({ what }) => what)).toEqual(lost.map((frame) => `ID3v2/${frame}`))
  const { census } = bytesWriting(plan)
  expect(censusFaults(census, (await readFile(path)).length)).toEqual([])
  const output = (await readFile(part)).subarray(0, tag.length)
  const input = await readFile(path)
  for (const { path: what, start, length } of census.filter(({ path: own }) => keeps.includes(own.slice(6)))) {
    expect(output.includes(input.subarray(start, start + length)), what).toBe(true)
  }
  expect(census.filter(({ fate }) => fate === 'kept').map(({ path: own }) => own.slice(6))).toEqual(
    expect.arrayContaining(keeps),
  )
  expect(output.includes('gain') || output.includes(Buffer.from('gain', 'utf16le')) || output.includes('NORM')).toBe(
    false,
  )
  expect((await probe(part)).tags).toMatchObject({ title: 'A title' })
  expect(output.length).toBe(tag.length)
})

it.each([
  ['wav', 'id3 ', 'pcm_s16le', 'pcm-in-place'],
  ['wav', 'id3 ', 'adpcm_ms', 'chunks'],
  ['aiff', 'ID3 ', 'pcm_s16be', 'pcm-in-place'],
])('leaves the level of the old sound out of the ID3 tag of a .%s (%s, %s)', async (extension, id, codec, writer) => {
  const path = folder.file(`tagged-${codec}.${extension}`)
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', codec, path)
  const tag = id3(id3Frame('TIT2', TITLE), id3Frame('TXXX', GAIN), id3Frame('TPE1', TITLE))
  await writeFile(path, withChunk(await readFile(path), id, tag))
  const { plan, part } = await writtenFile(path)
  const { census, writer: taken } = bytesWriting(plan)
  expect(taken).toBe(writer)
  expect(censusFaults(census, (await readFile(path)).length)).toEqual([])
  expect(plan.losses.map(({ what }) => what)).toEqual(['ID3v2/TXXX:replaygain_track_gain'])
  const output = await readFile(part)
  const padding = Buffer.alloc(id3Frame('TXXX', GAIN).length)
  expect(output.includes(id3(id3Frame('TIT2', TITLE), id3Frame('TPE1', TITLE), padding))).toBe(true)
  expect(output.includes(GAIN)).toBe(false)
})
