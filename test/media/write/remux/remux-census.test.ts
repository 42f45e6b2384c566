import { appendFile, open, readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { type PlanOutputOptions, planOutput } from '../../../../src/media/write/plan-writing.js'
import { programPackets } from '../../../../src/media/write/structure/program-packets.js'
import { writingFacts } from '../../../../src/media/write/writing.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

/** A transport packet with a payload of nothing known, or of some bytes. @param control payload alone by default */
function packet(pid: number, control = 0x10, field: readonly number[] = []): Buffer {
  const bytes = Buffer.alloc(188, 0xff)
  bytes.set([0x47, pid >> 8, pid & 0xff, control, ...field])
  return bytes
}

function box(type: string): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from(type, 'latin1'), Buffer.alloc(16, 7)])
}

/** The XMP object of ASF: its GUID, its size, and nothing in it. */
const XMP = Buffer.from('cbcf7abea997e8429c71999491e3afac1800000000000000', 'hex')

/** The streams of which a player shows one: the object of ASF with nothing in it. */
const EXCLUSION = Buffer.from('405a46d1795a3843b71be36b8fd6c2491800000000000000', 'hex')

/** A script of FLV. @param value in AMF0: nothing by default */
function script(name: string, value: readonly number[] = [5]): Buffer {
  const body = Buffer.concat([Buffer.from([2, 0, name.length]), Buffer.from(name), Buffer.from(value)])
  const head = Buffer.from([18, 0, 0, body.length, 0, 0, 0, 0, 0, 0, 0])
  return Buffer.concat([head, body, Buffer.from([0, 0, 0, head.length + body.length])])
}

/** A packet of a program stream. */
function programPacket(code: number, ...body: readonly number[]): Buffer {
  return Buffer.from([0, 0, 1, code, 0, body.length, ...body])
}

/** Two editions of chapters in Matroska: an ordered one with a chapter in a chapter, and an empty one. */
const CHAPTERS = Buffer.from('1043a7709145b98b45db8101b685b68391810045b980', 'hex')

/** The notes of a camera. */
const NOTES = Buffer.from('LIST\x10\0\0\0ncdtnctg\x04\0\0\0abcd', 'latin1')

function riffChunk(id: string): Buffer {
  return Buffer.concat([Buffer.from(id, 'latin1'), Buffer.from([4, 0, 0, 0, 1, 2, 3, 4])])
}

async function planned(path: string, options: Partial<PlanOutputOptions> = {}) {
  const plan = await planOutput(await probe(path), { replaced: [0], ...options })
  const { writer, census } = writingFacts(plan)
  return { writer, fates: new Set(census?.map(({ fate }) => fate)), losses: plan.losses.map(({ what }) => what) }
}

it.each([
  [
    'ts',
    ['-c:v', 'mpeg2video', '-c:a', 'mp2'],
    { container: 'm2ts' },
    // The last one has a field of seven bytes, and private data in it.
    // Then a unit with a clock (ESCR) and a checksum in its header.
    [
      ...[packet(0x12), packet(600), packet(0x101, 0x90), packet(0x100, 0x30, [7, 2, 5])],
      packet(0x4100, 0x10, [0, 0, 1, 0xe0, 0, 0, 0x80, 0x22, 8]),
    ],
    [
      ...['PID 18 (EIT)', 'PID 600', 'encrypted packets of PID 257', 'marks beside packets of PID 256'],
      ...['header of packets/ESCR', 'header of packets/checksum'],
    ],
  ],
  ['wmv', ['-c:v', 'wmv2', '-c:a', 'wmav2'], {}, [XMP, EXCLUSION], ['XMP', 'Group Mutual Exclusion']],
  ['flv', ['-c:v', 'flv', '-c:a', 'aac'], {}, [script('onXMPData')], ['subtitle stream 2 (text)', 'script/onXMPData']],
  [
    'flv',
    ['-c:v', 'flv', '-c:a', 'mp3', '-ar', '44100'],
    {},
    [script('onMetaData', [8, 0, 0, 0, 0, 0, 0, 9])],
    ['script/onMetaData (during the film)'],
  ],
  ['mp4', ['-c:v', 'mpeg4', '-c:a', 'aac'], { container: 'mkv' }, [box('uuid'), box('zzzz')], ['uuid', 'zzzz']],
  ['mkv', ['-c:v', 'mpeg4', '-c:a', 'aac'], { container: 'mov' }, [], []],
  [
    'mkv',
    // A segment of unknown size goes on to the end of the file.
    ['-c:v', 'mpeg4', '-c:a', 'aac', '-live', '1'],
    { container: 'mov' },
    [CHAPTERS],
    ['EditionFlagOrdered', 'ChapterAtom/ChapterAtom', ''].map((end) =>
      `Segment/Chapters/EditionEntry/${end}`.replace(/\/$/, ''),
    ),
  ],
  ['mxf', ['-c:v', 'mpeg2video', '-c:a', 'pcm_s16le'], { container: 'mov' }, [], []],
  ['avi', ['-c:v', 'mpeg4', '-c:a', 'mp3'], { container: 'mov' }, [], []],
  ['avi', ['-c:v', 'mpeg4', '-c:a', 'mp3'], { container: 'mov' }, [NOTES], ['RIFF/AVI/LIST ncdt']],
])(
  'names what a .%s loses if ffmpeg writes a new file, before anything is sent',
  async (kind, codecs, options, added, lost) => {
    const path = folder.file(`film.${kind}`)
    await ffmpeg(...picture(1), ...tone(1), ...codecs, '-flags', '+bitexact', path)
    const made = await planned(path, options)
    expect(made).toEqual({ writer: 'remux', fates: new Set(['rewritten']), losses: [] })
    await appendFile(path, Buffer.concat(added))
    const grown = await planned(path, options)
    expect(grown.losses).toEqual(lost)
  },
)

it('names the table of key frames of an FLV, and the places and sizes that no longer hold', async () => {
  const path = folder.file('indexed.flv')
  await ffmpeg(...picture(1), ...tone(1, 44_100), ...['-c:v', 'flv', '-flvflags', 'add_keyframe_index'], path)
  const { losses } = await planOutput(await probe(path), { replaced: [0] })
  expect(losses.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['script/onMetaData/keyframes', 'tag lastkeyframelocation', 'tag audiosize']),
  )
})

it('carries the metadata of a broadcast that stand behind the settings of its decoders', async () => {
  const path = folder.file('broadcast.flv')
  await ffmpeg(...picture(1), ...tone(1), '-c:v', 'libx264', '-c:a', 'aac', '-metadata', 'title=A title', path)
  const bytes = await readFile(path)
  const lengthAt = (at: number) => 11 + bytes.readUIntBE(at + 1, 3) + 4
  const settings = 13 + lengthAt(13)
  const film = settings + lengthAt(settings) + lengthAt(settings + lengthAt(settings))
  const [head, metadata] = [bytes.subarray(0, 13), bytes.subarray(13, settings)]
  await writeFile(path, Buffer.concat([head, bytes.subarray(settings, film), metadata, bytes.subarray(film)]))
  expect((await probe(path)).tags).toMatchObject({ title: 'A title' })
  expect((await planned(path)).losses).toEqual([])
})

it('names the chunks of an AVI that ffmpeg does not write: who made it, when, and the notes on a stream', async () => {
  const [plain, path] = [folder.file('plain.avi'), folder.file('camera.avi')]
  await ffmpeg(...picture(1), ...tone(1), '-c:v', 'mpeg4', '-c:a', 'mp3', '-metadata', 'title=A title', plain)
  expect((await planned(plain, { container: 'mov' })).losses).toEqual([])
  await writeFile(path, withCameraNotes(await readFile(plain)))
  const lost = ['RIFF/AVI/hdrl/strl/strd', 'RIFF/AVI/hdrl/IDIT', 'RIFF/AVI/INFO/ISFT']
  expect((await planned(path, { container: 'mov' })).losses).toEqual(expect.arrayContaining(lost))
})

/** The file with notes behind the format of its first stream and behind that stream, and with another program's name. */
function withCameraNotes(bytes: Buffer): Buffer {
  const format = bytes.indexOf('strf')
  const behindFormat = format + 8 + bytes.readUInt32LE(format + 4)
  const stream = bytes.indexOf('LIST', 13)
  const behindStream = stream + 8 + bytes.readUInt32LE(stream + 4)
  const [strd, idit] = [riffChunk('strd'), riffChunk('IDIT')]
  for (const [at, more] of [
    [4, strd.length + idit.length],
    [16, strd.length + idit.length],
    [stream + 4, strd.length],
  ] as const) {
    bytes.writeUInt32LE(bytes.readUInt32LE(at) + more, at)
  }
  bytes.write('CanonMV', bytes.indexOf('ISFT') + 8, 'latin1')
  const parts = [bytes.subarray(0, behindFormat), strd, bytes.subarray(behindFormat, behindStream), idit]
  return Buffer.concat([...parts, bytes.subarray(behindStream)])
}

it('says that it cannot name what is lost if the chunks of a file do not follow each other', async () => {
  const path = folder.file('junk.avi')
  await ffmpeg(...picture(1), ...tone(1), '-c:v', 'mpeg4', '-c:a', 'mp3', '-flags', '+bitexact', path)
  const film = await readFile(path)
  const movi = film.indexOf('movi') - 8
  await writeFile(path, Buffer.concat([film.subarray(0, movi), riffChunk('\x01\x02\x03\x04'), film.subarray(movi)]))
  const { writer, losses } = await planned(path, {})
  expect(writer).toBe('remux')
  expect(losses).toEqual(['structures that ffmpeg does not know'])
})

it('names the bytes behind each packet of a transport stream: error correction or filler', async () => {
  const path = folder.file('corrected.ts')
  await ffmpeg(...tone(1), '-c:a', 'mp2', path)
  const plain = await readFile(path)
  const packets = Array.from({ length: plain.length / 188 }, (_, at) => plain.subarray(at * 188, (at + 1) * 188))
  await writeFile(path, Buffer.concat(packets.flatMap((packet) => [packet, Buffer.alloc(16)])))
  expect((await planned(path, {})).losses).toEqual(['bytes behind each packet'])
})

it('names what a program stream loses, each kind once', async () => {
  const path = folder.file('film.vob')
  await ffmpeg(...picture(2), ...tone(2), '-c:v', 'mpeg2video', '-c:a', 'dca', '-strict', '-2', '-f', 'vob', path)
  expect(await planned(path, {})).toEqual({ writer: 'remux', fates: new Set(['rewritten']), losses: [] })
  const noise = Buffer.from('noise between packets')
  const [substream, other] = [programPacket(0xbd, 0x81, 0, 0, 0x70, 1), programPacket(0xbf, 5, 6)]
  const stated = programPacket(0xe0, 0x81, 0x21, 10, 1, 2, 3, 4, 5, 6, 0x80, 0, 0, 0)
  const kinds = [programPacket(0xbc, 1, 2), substream, other, stated, programPacket(0xf2, 0, 0), programPacket(0xff, 1)]
  await appendFile(path, Buffer.concat([...kinds, ...kinds, noise, Buffer.from([0, 0, 1, 0xb9])]))
  const named = ['program stream map', 'private stream 1, 0x70', 'private stream 2']
  const fields = ['header of packets/ESCR', 'header of packets/private data']
  const rest = ['DSM-CC', 'program stream directory', 'bytes between packets', 'end code']
  expect((await planned(path, {})).losses).toEqual([...named, ...fields, ...rest])
})

it.each([
  ['vcd', ['-b:a', '192k'], ['packs of MPEG-1', 'packs of 2324 bytes each']],
  ['svcd', ['-b:a', '192k', '-ac', '2'], ['packs of 2324 bytes each']],
  ['dvd', ['-c:a', 'dca', '-strict', '-2'], ['data stream 0 (dvd_nav_packet)']],
])('names the packs of a disc (%s) that ffmpeg does not write, if the container stays', async (disc, codecs, lost) => {
  const path = folder.file(`${disc}.mpg`)
  await ffmpeg(...picture(2, '352x288', 25), ...tone(2), '-target', `pal-${disc}`, ...codecs, path)
  expect((await planned(path, {})).losses).toEqual(lost)
  const { losses } = await planned(path, { container: 'mkv' })
  expect(losses.filter((what) => what.startsWith('packs'))).toEqual([])
})

it('stops reading a program stream if the job is cancelled', async () => {
  const path = folder.file('cancelled.mpg')
  await writeFile(path, Buffer.concat(Array.from({ length: 10 }, () => programPacket(0xe0, 0x81, 0, 0))))
  await using file = await open(path)
  const media = { streams: [], sizeBytes: (await file.stat()).size }
  expect(await programPackets(file, media)).toEqual([{ path: 'packets 0x1e0', start: 0, length: 9 }])
  await expect(programPackets(file, media, AbortSignal.abort())).rejects.toThrow('aborted')
})

it('reads a program stream whose start is missing', async () => {
  const path = folder.file('cut.mpg')
  await ffmpeg(...picture(2), ...tone(2), '-c:v', 'mpeg2video', '-c:a', 'dca', '-strict', '-2', '-f', 'vob', path)
  await writeFile(path, (await readFile(path)).subarray(1000))
  expect((await planned(path, {})).losses).toEqual(['bytes between packets'])
})

it('names the programs that become one', async () => {
  const path = folder.file('two.ts')
  const programs = ['-program', 'title=One:program_num=1:st=0', '-program', 'title=Two:program_num=2:st=1']
  await ffmpeg(...tone(1), ...tone(1), '-map', '0', '-map', '1', '-c:a', 'mp2', ...programs, path)
  expect((await planned(path, { container: 'm2ts' })).losses).toEqual(['division into 2 programs'])
})

it('copies no signature and no checksum of the old sound into a new WAV', async () => {
  const path = folder.file('signed.wav')
  await ffmpeg(...tone(1), path)
  const added = Buffer.concat(['C2PA', 'MD5 ', 'iXML'].map(riffChunk))
  const whole = Buffer.concat([await readFile(path), added])
  whole.writeUInt32LE(whole.length - 8, 4)
  await writeFile(path, whole)
  const { losses } = await planned(path, { keepOriginal: true })
  // A WAV holds one track, so the original is lost beside them.
  expect(losses).toEqual(['audio stream 0 (pcm_s16le)', 'RIFF/WAVE/C2PA', 'RIFF/WAVE/MD5'])
})

it('names the fragments of a film whose first packets stand in its index', async () => {
  const path = folder.file('fragments.mp4')
  const fragments = ['-g', '25', '-movflags', 'frag_keyframe']
  await ffmpeg(...picture(3), ...tone(3), '-c:v', 'mpeg4', '-c:a', 'aac', ...fragments, path)
  const { writer, losses } = await planned(path, { keepOriginal: true })
  expect({ writer, losses }).toEqual({ writer: 'remux', losses: ['moof'] })
  expect((await planned(path, { container: 'mkv' })).losses).toEqual([])
})

it('names the coupling of DV and its sound in one stream (type 1), which becomes two', async () => {
  const [raw, path] = [folder.file('film.dv'), folder.file('type-1.avi')]
  await ffmpeg(...picture(1, '720x576', 25), ...tone(1, 48_000, 2), '-target', 'pal-dv', raw)
  await writeFile(path, joinedDv(await readFile(raw)))
  expect(await planned(path, {})).toMatchObject({ writer: 'remux', losses: ['RIFF/AVI/hdrl/strl/strh (iavs)'] })
})

const DV_FRAME_BYTES = 144_000

/** An AVI whose one stream is DV with the sound in its frames. */
function joinedDv(raw: Buffer): Buffer {
  const chunk = (id: string, ...parts: readonly Buffer[]) => {
    const head = Buffer.from(`${id}....`, 'latin1')
    const body = Buffer.concat(parts)
    head.writeUInt32LE(body.length, 4)
    return Buffer.concat([head, body])
  }
  const list = (type: string, ...parts: readonly Buffer[]) => chunk('LIST', Buffer.from(type), ...parts)
  const count = Math.floor(raw.length / DV_FRAME_BYTES)
  const numbers = (...values: readonly number[]) => Buffer.from(Uint32Array.from(values).buffer)
  const main = numbers(40_000, 3_600_000, 0, 16, count, 0, 1, DV_FRAME_BYTES, 720, 576, 0, 0, 0, 0)
  const facts = numbers(0, 0, 0, 1, 25, 0, count, DV_FRAME_BYTES, 0xffff_ffff, 0, 0, (576 << 16) | 720)
  const stream = list('strl', chunk('strh', Buffer.from('iavsdvsd'), facts), chunk('strf', Buffer.alloc(32)))
  const frames = Array.from({ length: count }, (_, place) =>
    chunk('00__', raw.subarray(place * DV_FRAME_BYTES, (place + 1) * DV_FRAME_BYTES)),
  )
  const headers = list('hdrl', chunk('avih', main), stream)
  return chunk('RIFF', Buffer.from('AVI '), headers, list('movi', ...frames))
}
