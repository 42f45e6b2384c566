import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { bytePlan } from '../../../src/media/write/byte-plan.js'
import { censusFaults } from '../../../src/media/write/census.js'
import { copyPlan } from '../../../src/media/write/copy-plan.js'
import { oggPage, oggPageAt, pagesOfPackets } from '../../../src/media/write/frames/ogg-pages.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'
import { checksumOf } from '../checksum.js'

const folder = folderOfTests()

it('states the number of samples of FLAC in Ogg', async () => {
  const path = folder.file('counted.ogg')
  await ffmpeg(...tone(3, 48_000), '-c:a', 'flac', path)
  const { plan, part } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('frames')
  const output = await readFile(part)
  // The last 36 of the 8 bytes behind the sizes of blocks and frames in STREAMINFO (RFC 9639, section 8.2).
  const facts = output.readBigUInt64BE(output.indexOf('fLaC') + 4 + 4 + 10)
  expect(facts & 0xf_ffff_ffffn).toBe(144_000n)
})

/** Writes numbers into the first page of an Ogg, with the checksum of the result. */
async function changeHead(path: string, change: (page: Buffer) => void): Promise<void> {
  const bytes = await readFile(path)
  const page = bytes.subarray(0, bytes.indexOf('OggS', 4))
  change(page)
  page.writeUInt32LE(0, 22)
  page.writeUInt32LE(checksumOf(page, 0), 22)
  await writeFile(path, bytes)
}

it.each([
  ['more header packets than it has', 3],
  ['no number of header packets', 0],
])('keeps the comment of FLAC in Ogg that states %s', async (_, stated) => {
  const path = folder.file(`stated-${stated}.ogg`)
  await ffmpeg(...tone(3, 48_000), '-c:a', 'flac', '-metadata', 'title=A title', path)
  await changeHead(path, (page) => page.writeUInt16BE(stated, page.indexOf('\x7fFLAC', 0, 'latin1') + 7))
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('frames')
  const output = await readFile(part)
  expect(output.includes('title=A title')).toBe(true)
  expect(output.readUInt16BE(output.indexOf('\x7fFLAC', 0, 'latin1') + 7)).toBe(1)
  expect(output.readUInt32LE(14)).toBe((await readFile(path)).readUInt32LE(14))
  for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
})

it('keeps the rate that the sound of Opus had before', async () => {
  const path = folder.file('rate.opus')
  await ffmpeg(...tone(3, 48_000), '-c:a', 'libopus', path)
  await changeHead(path, (page) => page.writeUInt32LE(44_100, page.indexOf('OpusHead') + 12))
  const { plan, part } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('frames')
  const output = await readFile(part)
  expect(output.readUInt32LE(output.indexOf('OpusHead') + 12)).toBe(44_100)
})

it.each([
  ['ogg', ['-c:a', 'libvorbis']],
  ['opus', ['-c:a', 'libopus']],
])('keeps the comment and the serial number of .%s', async (extension, options) => {
  const path = folder.file(`comment.${extension}`)
  const long = 'x'.repeat(70_000)
  await ffmpeg(...tone(3, 48_000, 2), ...options, '-metadata', 'title=A title', '-metadata', `lyrics=${long}`, path)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('frames')
  expect(plan.losses).toEqual([])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(48)
  const serials: number[] = []
  for (const name of [path, part]) {
    const file = await open(name, 'r')
    for (let at = 0; ; ) {
      const page = await oggPageAt(file, at)
      if (!page) break
      serials.push(page.serial)
      at += page.headLength + page.bodyLength
    }
    await file.close()
  }
  expect(new Set(serials).size).toBe(1)
  // ffmpeg checks every page's checksum and sequence.
  await ffmpeg('-xerror', '-err_detect', 'crccheck+bitstream+buffer', '-i', part, '-f', 'null', '-')
})

describe('Ogg with other bytes around its pages', () => {
  it('keeps them behind the last page, and the comment', async () => {
    const path = folder.file('behind.ogg')
    await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'libvorbis', '-metadata', 'artist=A name', path)
    // So many that ffmpeg finds no last page, and guesses the duration from the bit rate.
    const behind = Buffer.from('bytes that are no page'.repeat(15_000))
    await writeFile(path, Buffer.concat([await readFile(path), behind]))
    const { plan, part } = await writtenFile(path)
    const { writer, census } = bytesWriting(plan)
    expect([writer, census.at(-1)?.path, census.at(-1)?.fate]).toEqual(['frames', 'bytes behind the pages', 'kept'])
    expect(censusFaults(census, (await readFile(path)).length)).toEqual([])
    expect((await readFile(part)).subarray(-behind.length).equals(behind)).toBe(true)
  })

  it.each([
    ['libvorbis', 'ogg'],
    ['libopus', 'opus'],
    ['flac', 'oga'],
  ])('keeps other bytes between pages of %s, and a tag before them', async (codec, extension) => {
    const path = folder.file(`between.${extension}`)
    await ffmpeg(...tone(3, 48_000, 2), '-c:a', codec, path)
    const bytes = await readFile(path)
    const last = bytes.lastIndexOf('OggS')
    const id3 = Buffer.from('ID3\x04\0\0\0\0\0\x0cten or more.')
    const between = Buffer.alloc(3000, 7)
    await writeFile(path, Buffer.concat([id3, bytes.subarray(0, last), between, bytes.subarray(last)]))
    const { plan, part, verified } = await writtenFile(path)
    const { writer, census } = bytesWriting(plan)
    expect(writer).toBe('frames')
    expect(censusFaults(census, (await readFile(path)).length)).toEqual([])
    expect(census.filter(({ fate }) => fate === 'kept').map(({ path: name, length }) => [name, length])).toEqual(
      expect.arrayContaining([
        ['ID3v2', id3.length],
        ['bytes between the pages', between.length],
      ]),
    )
    const output = await readFile(part)
    expect([output.indexOf(id3), output.includes(between)]).toEqual([0, true])
    for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
  })

  it('is left to ffmpeg if they lie before the first page', async () => {
    const path = folder.file('before.ogg')
    await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'libvorbis', path)
    await writeFile(path, Buffer.concat([Buffer.alloc(500, 7), await readFile(path)]))
    const { writing, losses } = await planOutput(await probe(path), { replaced: [0] })
    expect(writing).toMatchObject({ kind: 'remux', declined: [{ reason: 'other bytes lie before its first page' }] })
    expect(losses.map(({ what }) => what)).toEqual(['bytes before the sound'])
  })

  it('is named in the plan if ffmpeg joins its repeated comments', async () => {
    const path = folder.file('repeated.ogg')
    await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'libvorbis', '-metadata', 'artist=One', '-metadata', 'brtist=Two', path)
    const bytes = await readFile(path)
    bytes.write('artist', bytes.indexOf('brtist'))
    // With the checksum of the page of comments.
    const file = await open(path, 'r')
    const id = await oggPageAt(file, 0)
    const comments = await oggPageAt(file, (id?.headLength ?? 0) + (id?.bodyLength ?? 0))
    await file.close()
    if (!comments) throw new Error('It has no page of comments.')
    const bodyAt = comments.start + comments.headLength
    const body = bytes.subarray(bodyAt, bodyAt + comments.bodyLength)
    const pieces = [
      { kind: 'bytes' as const, bytes: bytes.subarray(0, comments.start) },
      ...oggPage(comments, comments.serial, 1, { kind: 'bytes', bytes: body }),
      { kind: 'bytes' as const, bytes: bytes.subarray(bodyAt + comments.bodyLength) },
    ]
    await rm(path)
    await copyPlan(bytePlan(pieces), path, { input: path, donors: [] })
    const plan = await planOutput(await probe(path), { replaced: [0], keepOriginal: true })
    expect(plan.losses.map(({ what }) => what)).toEqual(['repeated comments (artist)'])
  })
})

describe('Ogg with a film', () => {
  const film = async (name: string, codec: string) => {
    const path = folder.file(name)
    const tags = ['-metadata:s:1', 'title=A title', '-metadata:s:0', 'comment=A picture']
    await ffmpeg(
      ...picture(4),
      ...tone(4, 48_000, 2),
      '-c:v',
      'libtheora',
      '-c:a',
      codec,
      '-strict',
      '-2',
      ...tags,
      path,
    )
    return path
  }

  it.each(['libvorbis', 'libopus', 'flac'])('keeps every page of the picture beside %s', async (codec) => {
    const path = await film(`${codec}.ogg`, codec)
    const { plan, part } = await writtenFile(path)
    const { writer, census } = bytesWriting(plan)
    expect([writer, plan.losses]).toEqual(['frames', []])
    expect(censusFaults(census, (await readFile(path)).length)).toEqual([])
    const [before, after] = [await pagesOf(path), await pagesOf(part)]
    const [serial, other] = before.map(({ serial }) => serial)
    const bytesOf = (pages: typeof before, wanted?: number) => pages.filter((page) => page.serial === wanted)
    expect(bytesOf(after, serial)).toEqual(bytesOf(before, serial))
    // Sound lies beside the picture of its time.
    const places = (pages: typeof before) =>
      pages.flatMap((page, place) => (page.serial === other ? [place / pages.length] : []))
    const middle = (values: readonly number[]) => values[Math.floor(values.length / 2)] ?? 0
    expect(middle(places(after))).toBeCloseTo(middle(places(before)), 1)
    expect(bytesOf(after, other).at(-1)?.flags).toBe(4)
    expect((await probe(part)).streams.map(({ tags }) => tags.title ?? tags.TITLE)).toContain('A title')
    await ffmpeg('-xerror', '-err_detect', 'crccheck+bitstream+buffer', '-i', part, '-f', 'null', '-')
    // No packet of no bytes ends it.
    expect(bytesOf(after, other).at(-1)?.lacing.at(-1)).not.toBe(0)
  })

  it('is left to ffmpeg if its Skeleton states places in the file', async () => {
    const path = await film('skeleton.ogg', 'libvorbis')
    const head = Buffer.alloc(80)
    head.write('fishead\0', 'latin1')
    head.writeUInt16LE(4, 8)
    const page = { flags: 2, granule: 0n, lacing: Buffer.from([head.length]) }
    const input = await readFile(path)
    const pieces = [...oggPage(page, 7, 0, { kind: 'bytes', bytes: head }), { kind: 'bytes' as const, bytes: input }]
    const indexed = folder.file('indexed.ogg')
    await copyPlan(bytePlan(pieces), indexed, { input: path, donors: [] })
    const { writing } = await planOutput(await probe(indexed), { replaced: [0] })
    expect(writing.kind === 'remux' && writing.declined).toContainEqual({
      writer: 'frames',
      reason: 'its Skeleton states places in the file',
    })
  })

  async function pagesOf(path: string) {
    const bytes = await readFile(path)
    const file = await open(path, 'r')
    const pages = []
    for (let at = 0; ; ) {
      const page = await oggPageAt(file, at)
      if (!page) break
      const end = at + page.headLength + page.bodyLength
      pages.push({ serial: page.serial, flags: page.flags, lacing: page.lacing, bytes: bytes.subarray(at, end) })
      at = end
    }
    await file.close()
    return pages
  }
})

it.each([
  ['opus', 'libopus'],
  ['ogg', 'libvorbis'],
])('keeps the clock of a .%s that begins late, as a recording of a radio does', async (extension, codec) => {
  const path = folder.file(`late.${extension}`)
  await ffmpeg(...tone(3, 48_000), '-c:a', codec, path)
  const bytes = await readFile(path)
  const starts = [...bytes.toString('latin1').matchAll(/OggS\0/g)].map(({ index }) => index)
  for (const [place, start] of starts.entries()) {
    const page = bytes.subarray(start, starts[place + 1])
    const granule = page.readBigInt64LE(6)
    if (granule <= 0n) continue
    page.writeBigInt64LE(granule + 4_800_000n, 6)
    page.writeUInt32LE(0, 22)
    page.writeUInt32LE(checksumOf(page, 0), 22)
  }
  await writeFile(path, bytes)
  const { media, plan, part, verified } = await writtenFile(path)
  expect(media.startSec).toBeCloseTo(100, 1)
  expect(bytesWriting(plan).writer).toBe('frames')
  for (const offset of syncOffsets(verified)) expect(Math.abs(offset ?? 0)).toBeLessThan(48)
  const written = await probe(part)
  expect(written.startSec).toBeCloseTo(media.startSec, 3)
  expect(written.durationSec).toBeCloseTo(media.durationSec ?? 0, 2)
})

it('leaves a film with Speex that begins late to the remux, which keeps its priming', async () => {
  const path = folder.file('late-speech.ogv')
  const late = ['-output_ts_offset', '1.3']
  await ffmpeg(...picture(3), ...tone(3, 32_000), '-c:v', 'libtheora', '-c:a', 'libspeex', ...late, path)
  const { plan, verified } = await writtenFile(path)
  expect(plan.writing.kind).toBe('remux')
  for (const offset of syncOffsets(verified)) expect(Math.abs(offset ?? 0)).toBeLessThan(33)
})

it('numbers the pages of a header that one page does not hold', () => {
  const pages = pagesOfPackets([Buffer.alloc(200_000, 1), Buffer.alloc(300, 2)], 7, 1)
  const heads = pages.map(([head]) => Buffer.from(head?.kind === 'bytes' ? head.bytes : []))
  expect(heads.map((head) => head.readUInt32LE(18))).toEqual([1, 2, 3, 4])
  // All but the first continue a packet, and only the last ends one.
  expect(heads.map((head) => head.readUInt8(5) & 1)).toEqual([0, 1, 1, 1])
  expect(heads.map((head) => head.readBigInt64LE(6))).toEqual([-1n, -1n, -1n, 0n])
})
