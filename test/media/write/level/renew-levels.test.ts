import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { ebur128, ffmpeg, tone } from '../../../helpers/media-factory.js'
import { splicedFile } from '../../../helpers/spliced-file.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../../helpers/written-file.js'
import { checksumOf } from '../../checksum.js'
import { ape, id3, id3Frame, withChunk } from '../made-tags.js'

const folder = folderOfTests()

/** The sound is written at half its level. */
const HALF_DB = 20 * Math.log10(2)
const SOUND_CHECK = ' 00000400 00000800 00001000 00002000 00012345 00000000 00004000 00002000 00006789 00000000'
const HALF_CHECK = ' 00000100 00000200 00000400 00000800 00012345 00000000 00002000 00001000 00006789 00000000'
const TAGS = {
  REPLAYGAIN_TRACK_GAIN: '-7.20 dB',
  REPLAYGAIN_TRACK_PEAK: '0.750000',
  REPLAYGAIN_ALBUM_GAIN: '-6.10 dB',
  REPLAYGAIN_REFERENCE_LOUDNESS: '89.0 dB',
  title: 'A title',
}
const metadata = Object.entries(TAGS).flatMap(([name, value]) => ['-metadata', `${name}=${value}`])

it.each([
  ['flac', ['-c:a', 'flac']],
  ['mp3', ['-c:a', 'libmp3lame']],
  ['mp3', ['-c:a', 'libmp3lame', '-id3v2_version', '3']],
  ['aiff', ['-write_id3v2', '1']],
  ['ogg', ['-c:a', 'libvorbis']],
  ['opus', ['-c:a', 'libopus']],
  ['oga', ['-c:a', 'flac']],
])('states the new level of a .%s, and keeps that of its album', async (extension, options) => {
  const path = folder.file(`level.${extension}`)
  await ffmpeg('-y', ...tone(2, 48_000, 2), ...options, ...metadata, path)
  const { plan, part } = await writtenFile(path)
  expect(plan.losses).toEqual([])
  const written = bytesWriting(plan).census.filter(({ reason }) => reason === 'states how loud the new sound is')
  expect(written.map(({ path: name }) => name.split(':')[1])).toEqual([
    'REPLAYGAIN_TRACK_GAIN',
    'REPLAYGAIN_TRACK_PEAK',
  ])
  const { tags } = await probe(part)
  const entries = Object.entries(tags).map(([name, value]) => [name.toUpperCase(), value])
  const stated = Object.fromEntries(entries) as Record<string, string>
  expect(stated).toMatchObject({ REPLAYGAIN_ALBUM_GAIN: '-6.10 dB', REPLAYGAIN_REFERENCE_LOUDNESS: '89.0 dB' })
  expect(stated.REPLAYGAIN_TRACK_GAIN).toHaveLength(TAGS.REPLAYGAIN_TRACK_GAIN.length)
  expect(Number.parseFloat(stated.REPLAYGAIN_TRACK_GAIN ?? '')).toBeCloseTo(-7.2 + HALF_DB, 1)
  // A lossy codec changes the peaks of a tone a little.
  expect(Math.abs(Number(stated.REPLAYGAIN_TRACK_PEAK) - 0.375)).toBeLessThan(0.015)
  const [before, after] = [await ebur128(path), await ebur128(part)]
  expect(Number.parseFloat(stated.REPLAYGAIN_TRACK_GAIN ?? '') + 7.2).toBeCloseTo(
    before.integrated - after.integrated,
    0,
  )
})

/** Pages of an Ogg file whose checksum is not that of their bytes. */
function wrongPages(file: Buffer): readonly number[] {
  const starts = [...file.toString('latin1').matchAll(/OggS\0/g)].map(({ index }) => index)
  return starts.filter((start, place) => {
    const page = Buffer.from(file.subarray(start, starts[place + 1] ?? file.length))
    const stated = page.readUInt32LE(22)
    page.writeUInt32LE(0, 22)
    return checksumOf(page, 0) !== stated
  })
}

it.each([
  ['opus', 'libopus'],
  ['ogg', 'libvorbis'],
])('states the new level of a .%s whose comments fill several pages', async (extension, codec) => {
  const path = folder.file(`pages.${extension}`)
  const long = ['-metadata', `long=${'x'.repeat(70_000)}`]
  const r128 = ['-metadata', 'R128_TRACK_GAIN=-90', '-metadata', 'R128_ALBUM_GAIN=-80']
  await ffmpeg(...tone(4, 48_000, 2), '-c:a', codec, ...long, ...r128, ...metadata, path)
  for (const { part } of [await writtenFile(path), await splicedFile(path, [[1, 3]])]) {
    const { tags } = await probe(part)
    const [before, after] = [await ebur128(path), await ebur128(part)]
    const change = before.integrated - after.integrated
    expect(change).toBeGreaterThan(0.5)
    expect(Number(tags.R128_TRACK_GAIN)).toBeCloseTo(-90 + 256 * change, -2)
    expect(tags).toMatchObject({ R128_ALBUM_GAIN: '-80', title: TAGS.title })
    expect(Number.parseFloat(tags.REPLAYGAIN_TRACK_GAIN ?? '')).toBeCloseTo(-7.2 + change, 0)
    expect(wrongPages(await readFile(part))).toEqual([])
  }
})

it.each([
  ['-movflags', '+use_metadata_tags'],
  ['-movflags', '+faststart'],
])('renews what iTunes states in an M4A, and moves nothing (%s %s)', async (...flags) => {
  const path = folder.file('itunes.m4a')
  await ffmpeg('-y', ...tone(2, 44_100, 2), '-c:a', 'aac', ...flags, '-metadata', 'title=A title', path)
  await addItem(path, 'iTunNORM', SOUND_CHECK)
  const { plan, part } = await writtenFile(path)
  expect(plan.losses).toEqual([])
  const output = (await readFile(part)).toString('latin1')
  expect(output).not.toContain(SOUND_CHECK)
  const [, numbers = ''] = /iTunNORM.{16}((?: [0-9A-F]{8}){10})/s.exec(output) ?? []
  const [made, wanted] = [numbers, HALF_CHECK].map((text) =>
    text
      .trim()
      .split(' ')
      .map((hex) => Number(`0x${hex}`)),
  )
  for (const [place, value] of (wanted ?? []).entries()) {
    expect(Math.abs((made?.[place] ?? 0) - value), `number ${place}`).toBeLessThanOrEqual(value * 0.02)
  }
  expect([made?.[4], made?.[8]]).toEqual([0x12345, 0x6789])
})

/** Adds a free item to the tag list of an M4A whose index is last; the sizes around it grow. */
async function addItem(path: string, name: string, text: string): Promise<void> {
  await ffmpeg('-y', '-i', path, '-c', 'copy', `${path}.last.m4a`)
  const bytes = await readFile(`${path}.last.m4a`)
  const box = (type: string, body: string) => {
    const head = Buffer.alloc(4)
    head.writeUInt32BE(8 + body.length)
    return `${head.toString('latin1')}${type}${body}`
  }
  const parts = [
    box('mean', '\0\0\0\0com.apple.iTunes'),
    box('name', `\0\0\0\0${name}`),
    box('data', `\0\0\0\x01\0\0\0\0${text}`),
  ]
  const item = Buffer.from(box('----', parts.join('')), 'latin1')
  const at = bytes.indexOf('ilst') + 4
  for (const type of ['moov', 'udta', 'meta', 'ilst']) {
    const size = bytes.lastIndexOf(type) - 4
    bytes.writeUInt32BE(bytes.readUInt32BE(size) + item.length, size)
  }
  await writeFile(path, Buffer.concat([bytes.subarray(0, at), item, bytes.subarray(at)]))
}

it('renews ID3 in every form, APE and relative volume of an MP3, byte for byte in place', async () => {
  const sound = folder.file('plain.mp3')
  await ffmpeg(...tone(2, 44_100, 2), '-c:a', 'libmp3lame', '-id3v2_version', '0', sound)
  const wide = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
  const frames = [
    id3Frame('TXXX', Buffer.concat([Buffer.from([1]), wide('replaygain_track_gain\0'), wide('-7.00 dB')])),
    id3Frame('COMM', Buffer.from(`\0engiTunNORM\0${SOUND_CHECK}`)),
    id3Frame('RVA2', Buffer.from('track\0\x01\xfe\0\0', 'latin1')),
    id3Frame('RVA2', Buffer.from('album\0\x01\xfd\0\0', 'latin1')),
    id3Frame('RVAD', Buffer.from('\0\x10\0\0\0\0\0\0\0\0', 'latin1')),
    id3Frame('TIT2', Buffer.from('\0A title')),
  ]
  const tag = id3(...frames)
  const behind = ape({ REPLAYGAIN_TRACK_GAIN: '+0.50 dB', REPLAYGAIN_ALBUM_PEAK: '0.9', Title: 'A title' })
  const path = folder.file('every.mp3')
  await writeFile(path, Buffer.concat([tag, await readFile(sound), behind]))
  const { plan, part } = await writtenFile(path)
  expect(plan.losses).toEqual([])
  const output = await readFile(part)
  const made = output.subarray(0, tag.length)
  expect(made.includes(wide('-0.98 dB'))).toBe(true)
  expect(made.includes(SOUND_CHECK)).toBe(false)
  const steps = made.readInt16BE(made.indexOf('track\0') + 7)
  expect(steps / 512).toBeCloseTo(-1 + HALF_DB, 1)
  const changed = [...made.keys()].filter((at) => made[at] !== tag[at])
  const starts = frames.map((_, place) => 10 + frames.slice(0, place).reduce((sum, { length }) => sum + length, 0))
  expect(new Set(changed.map((at) => starts.findLastIndex((start) => start <= at)))).toEqual(new Set([0, 1, 2]))
  expect(output.subarray(-behind.length).toString('latin1')).toBe(
    behind.toString('latin1').replace('+0.50 dB', '+6.52 dB'),
  )
})

it.each([
  ['pcm_s16le', 'pcm-in-place'],
  ['adpcm_ms', 'chunks'],
])('renews the ID3 tag of a WAV with %s (%s)', async (codec, writer) => {
  const path = folder.file(`${codec}.wav`)
  await ffmpeg(...tone(2, 44_100, 1), '-c:a', codec, path)
  const tag = id3(id3Frame('TXXX', Buffer.from('\0replaygain_track_gain\0-7.00 dB')))
  await writeFile(path, withChunk(await readFile(path), 'id3 ', tag))
  const { plan, part } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe(writer)
  expect(plan.losses).toEqual([])
  const [, gain] = /replaygain_track_gain\0(.*) dB/.exec((await readFile(part)).toString('latin1')) ?? []
  expect(Number(gain)).toBeCloseTo(-7 + HALF_DB, 1)
})

it('measures the whole track if only a part of it changes', async () => {
  const path = folder.file('part.mp3')
  await ffmpeg(...tone(4, 48_000, 2), '-c:a', 'libmp3lame', ...metadata, path)
  const { splice, part, verify } = await splicedFile(path, [[1, 3]])
  expect(splice).toMatchObject({ kind: 'spliced' })
  await verify()
  const { tags } = await probe(part)
  const [before, after] = [await ebur128(path), await ebur128(part)]
  const gain = Number.parseFloat(tags.REPLAYGAIN_TRACK_GAIN ?? '')
  expect(gain + 7.2).toBeCloseTo(before.integrated - after.integrated, 0)
  expect(gain).toBeGreaterThan(-6.7)
})
