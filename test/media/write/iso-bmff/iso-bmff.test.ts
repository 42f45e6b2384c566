import { readFile, writeFile } from 'node:fs/promises'
import { deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { uint32BE } from '../../../../src/media/number-bytes.js'
import { ffmpeg, ffprobeJson, picture } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { box, replaceBoxes } from '../../movie-boxes.js'
import { leaves } from './box-tree.js'

const folder = folderOfTests()

/** A sound that resembles itself at no other time. */
const sweep = ['-f', 'lavfi', '-i', 'aevalsrc=0.4*sin(2*PI*t*(200+150*t))|0.3*sin(2*PI*t*(300+90*t)):s=44100:d=2']
const film = ['-c:v', 'libx264', '-g', '12', '-bf', '2', '-preset', 'ultrafast']
const fragmented = (flags: string) => ['-c:a', 'aac', '-movflags', flags]

/** Adds to the size of each box of the index around a place. The index is at the end. */
async function grow(path: string, place: number, by: number): Promise<void> {
  const movie = await readFile(path)
  for (const type of ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref']) {
    const at = movie.lastIndexOf(type, place) - 4
    movie.writeUInt32BE(movie.readUInt32BE(at) + by, at)
  }
  await writeFile(path, movie)
}

/** Boxes that state something of the new packets or where bytes lie, by the last part of their path. */
const MAY_CHANGE =
  /\/(mdat|stsd|stts|stsz|stsc|stco|co64|mdhd|tkhd|elst|sgpd|sbgp|trun|tfhd|tfdt|tfra|sidx)(#\d+)?$|^(mdat|sidx)/

/** Fields that ffmpeg does not read, and other players do; undefined for a box that is missing. */
function keptFields(path: string, box: Buffer | undefined): readonly Buffer[] | boolean {
  const type = path.split('/').at(-1)?.replace(/#.*/, '')
  // Codec, reserved bytes and data reference of the first description, and its length.
  if (type === 'stsd' && box) return [box.subarray(20, 32), Buffer.of(box.length - 16 - box.readUInt32BE(16))]
  // Fragment, run and sample in rows of 19 bytes.
  if (type === 'tfra' && box) {
    return Array.from({ length: (box.length - 24) / 19 }, (_, row) => box.subarray(24 + 19 * row + 16, 43 + 19 * row))
  }
  return box !== undefined
}

describe('ISO base media', () => {
  type Form = readonly [string, name: string, isFilm: boolean, offset: readonly string[], options: readonly string[]]
  /** A form of each structure. */
  const forms: readonly Form[] = [
    ['an index at the start', 'start.mp4', true, [], ['-c:a', 'aac', '-movflags', '+faststart']],
    ['sound that starts late', 'late.mov', true, ['-itsoffset', '0.5'], ['-c:a', 'aac', '-movie_timescale', '600']],
    ['no edit list', 'no-edits.mp4', true, [], ['-c:a', 'aac', '-use_editlist', '0']],
    ['Opus', 'opus.mp4', true, [], ['-c:a', 'libopus']],
    ['fragments that count from the file', 'old-frag.mp4', true, [], fragmented('frag_keyframe+empty_moov')],
    ['one fragment a track and an index of segments', 'dash.mp4', true, [], fragmented('dash+global_sidx+delay_moov')],
  ]
  const further: readonly Form[] = [
    ['an index at the end', 'end.mp4', true, [], ['-c:a', 'aac']],
    ['ALAC', 'alac.m4a', false, [], ['-c:a', 'alac']],
    ['FLAC', 'flac.mp4', false, [], ['-c:a', 'flac', '-strict', '-2']],
    ['fragments that count from themselves', 'frag.mp4', true, [], fragmented('cmaf+delay_moov')],
    [
      'sound alone in fragments',
      'cmaf.m4a',
      false,
      [],
      [...fragmented('cmaf+global_sidx'), '-frag_duration', '500000'],
    ],
  ]

  it.each(process.env.VOXMUX_SOAK ? [...forms, ...further] : forms)(
    'replaces the packets of a file with %s, and no other structure',
    async (_name, name, isFilm, offset, options) => {
      const path = folder.file(name)
      const tags = ['-metadata', 'title=A title', '-metadata:s:a', 'language=deu']
      await ffmpeg(
        ...(isFilm ? picture(2) : []),
        ...offset,
        ...sweep,
        ...(isFilm ? film : []),
        ...tags,
        ...options,
        path,
      )
      // It compares packets and their times, and finds the sound in the output.
      const { plan, part, verified } = await writtenFile(path)
      const { writer, census } = bytesWriting(plan)
      expect(writer).toBe('iso-bmff')
      expect(plan.losses).toEqual([])
      for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 9)).toBeLessThan(2)

      const [before, after] = [leaves(await readFile(path)), leaves(await readFile(part))]
      const added = [...after.keys()].filter((box) => !before.has(box))
      expect(added).toEqual(name === 'no-edits.mp4' ? ['moov/trak#1/edts/elst'] : [])
      const named = new Set(
        census.filter(({ fate }) => fate === 'rewritten').map(({ path: box }) => box.split('/').at(-1)),
      )
      for (const [box, bytes] of before) {
        if (after.get(box)?.equals(bytes)) continue
        expect(box).toMatch(MAY_CHANGE)
        expect(named).toContain(box.split('/').at(-1)?.replace(/#.*/, ''))
        expect(keptFields(box, after.get(box))).toEqual(keptFields(box, bytes))
      }
      const [was, is] = await Promise.all(
        [path, part].map((file) => ffprobeJson(file, '-show_format', '-show_streams')),
      )
      const times = ({ format, streams }: Record<string, unknown>) => [
        (format as { start_time: string }).start_time,
        (format as { duration: string }).duration.slice(0, 4),
        (streams as { start_time: string }[]).map(({ start_time }) => start_time),
      ]
      expect(times(is as Record<string, unknown>)).toEqual(times(was as Record<string, unknown>))
    },
  )

  /** Both boxes of the picture come before those of the sound. */
  it.each([
    ['no data references', 'dinf', 0, 'skip', 'iso-bmff'],
    ['a data reference that names no file', 'url ', 4, '\0\0\0\0', 'iso-bmff'],
    ['an address that ffmpeg does not follow', 'url ', -4, '\0\0\0\x0eurl \0\0\0\0x\0', 'remux'],
  ])('keeps a picture with %s', async (_name, box, at, bytes, writer) => {
    const [plain, path] = [folder.file('referred.mp4'), folder.file(`${at}.mp4`)]
    await ffmpeg(...picture(2), ...sweep, ...film, '-c:a', 'aac', plain)
    const [movie, marked] = [await readFile(plain), Buffer.from(bytes, 'latin1')]
    const place = movie.indexOf(box) + at
    const longer = at < 0 ? 2 : 0
    await writeFile(
      path,
      Buffer.concat([movie.subarray(0, place), marked, movie.subarray(place + marked.length - longer)]),
    )
    if (longer > 0) await grow(path, place, longer)
    const { plan } = await writtenFile(path)
    expect(plan.writing.kind === 'bytes' ? plan.writing.writer : plan.writing.kind).toBe(writer)
  })

  it.each([
    ['ID3v1', Buffer.from(`TAGA long title${' '.repeat(113)}`)],
    ['ExifTool', Buffer.from('~\x10\x04\xfe0MIE\0\0\0\0', 'latin1')],
    ['dashcam', Buffer.concat([Buffer.from('LIGOGPSINFO'), Buffer.alloc(400, 7), Buffer.from('&&&&')])],
    ['padding that was cut', Buffer.concat([Buffer.from('\0\x10\0\0free', 'latin1'), Buffer.alloc(500)])],
  ])('keeps the trailer of %s, which reads like a box longer than the file', async (name, trailer) => {
    const [plain, path] = [folder.file('untailed.mp4'), folder.file(`${name}.mp4`)]
    await ffmpeg(...picture(2), ...sweep, ...film, '-c:a', 'aac', plain)
    await writeFile(path, Buffer.concat([await readFile(plain), trailer]))
    const { plan, part } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('iso-bmff')
    expect(plan.losses).toEqual([])
    expect((await readFile(part)).subarray(-trailer.length)).toEqual(trailer)
  })

  it('moves the picture of a reference too short for an alias, as ffmpeg reads this file for it', async () => {
    const path = folder.file('referred.mp4')
    await ffmpeg(...picture(2), ...sweep, ...film, '-c:a', 'aac', path)
    const alias = box('alis', Buffer.concat([uint32BE(0), Buffer.from('elsewhere')]))
    let references = 0
    const referred = replaceBoxes(await readFile(path), 'dref', (old) => {
      references += 1
      return references === 1 ? box('dref', Buffer.concat([uint32BE(0, 1), alias])) : old
    })
    await writeFile(path, referred)
    const { plan, verified } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('iso-bmff')
    expect(verified.streams.map(({ fate }) => fate)).toEqual(['copied', 'replaced'])
  })

  it('leaves a movie with a compressed index to ffmpeg, and says why', async () => {
    const path = folder.file('compressed.mov')
    await ffmpeg(...sweep, '-c:a', 'aac', path)
    const bytes = await readFile(path)
    const start = bytes.lastIndexOf('moov') - 4
    const size = Buffer.alloc(4)
    size.writeUInt32BE(bytes.length - start)
    const packed = box('cmvd', Buffer.concat([size, deflateSync(bytes.subarray(start))]))
    const index = box('moov', box('cmov', Buffer.concat([box('dcom', Buffer.from('zlib')), packed])))
    await writeFile(path, Buffer.concat([bytes.subarray(0, start), index]))
    const { plan } = await writtenFile(path)
    expect(plan.writing.declined).toEqual([{ writer: 'iso-bmff', reason: 'its index is compressed' }])
  })

  it('begins behind the priming that iTunes notes, and notes the new one', async () => {
    const [plain, path] = [folder.file('plain.m4a'), folder.file('noted.m4a')]
    await ffmpeg(...sweep, '-c:a', 'aac', '-use_editlist', '0', '-metadata', 'title=A title', plain)
    const numbers = ['00000000', '0000160C', '00000000', (2 * 44_100 - 4620).toString(16).padStart(16, '0')]
    const notes = [freeItem('iTunSMPB', ` ${numbers.join(' ')}`), freeItem('iTunNORM', ' 00000A21')]
    await writeFile(path, withItems(await readFile(plain), Buffer.concat(notes)))
    const { plan, part, verified } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('iso-bmff')
    expect(plan.losses.map(({ what }) => what)).toEqual(['moov/udta/meta/ilst/----:iTunNORM'])
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 9)).toBeLessThan(2)
    const { format, streams } = await ffprobeJson(part, '-show_format', '-show_streams')
    const { tags } = format as { tags: Record<string, string> }
    expect(tags.title).toBe('A title')
    const [, lead, rest, length] =
      tags.iTunSMPB
        ?.trim()
        .split(' ')
        .map((hex) => Number.parseInt(hex, 16)) ?? []
    expect([lead, length]).toEqual([1024, 2 * 44_100 - 4620])
    expect(((lead ?? 0) + (rest ?? 0) + (length ?? 0)) % 1024).toBe(0)
    expect(Number((streams as { start_time: string }[])[0]?.start_time)).toBe(0)
  })
})

/** A free-form item of iTunes' tag list. */
function freeItem(name: string, text: string): Buffer {
  const zeros = Buffer.alloc(4)
  const parts = [
    box('mean', Buffer.concat([zeros, Buffer.from('com.apple.iTunes')])),
    box('name', Buffer.concat([zeros, Buffer.from(name)])),
    box('data', Buffer.concat([Buffer.from([0, 0, 0, 1]), zeros, Buffer.from(text)])),
  ]
  return box('----', Buffer.concat(parts))
}

/** A file whose index stands at its end, with further items at the end of its tag list. */
function withItems(file: Buffer, items: Buffer): Buffer {
  const list = file.lastIndexOf('ilst') - 4
  const end = list + file.readUInt32BE(list)
  const made = Buffer.concat([file.subarray(0, end), items, file.subarray(end)])
  for (const type of ['moov', 'udta', 'meta', 'ilst']) {
    const at = made.lastIndexOf(type) - 4
    made.writeUInt32BE(made.readUInt32BE(at) + items.length, at)
  }
  return made
}
