import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, ffmpegOutput, picture } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { readAvi } from './made-avi.js'
import { asOpenDml, readIndices, readParts } from './made-open-dml.js'

const folder = folderOfTests()

/** A sound that resembles itself at no other time. */
const sweep = ['-f', 'lavfi', '-i', 'aevalsrc=0.4*sin(2*PI*t*(200+150*t))|0.3*sin(2*PI*t*(300+90*t)):s=44100:d=3']
const tags = ['-metadata', 'title=A title', '-metadata:s:a', 'language=deu']

async function film(name: string, ...options: readonly string[]): Promise<string> {
  const path = folder.file(name)
  await ffmpeg(...picture(3), ...sweep, '-c:v', 'mpeg4', ...options, ...tags, path)
  return path
}

const VARIABLE = ['-c:a', 'libmp3lame', '-q:a', '4', '-write_xing', '0']

it.each([
  ['MP3', 'mp3.avi', ['-c:a', 'libmp3lame']],
  ['MP3 of a variable rate', 'vbr.avi', VARIABLE],
  ['AC-3', 'ac3.avi', ['-c:a', 'ac3']],
  ['E-AC-3', 'eac3.avi', ['-c:a', 'eac3']],
  ['MP2', 'mp2.avi', ['-c:a', 'mp2']],
  ['AAC', 'aac.avi', ['-c:a', 'aac']],
  ['Windows Media', 'wma.avi', ['-c:a', 'wmav2']],
  ['FLAC', 'flac.avi', ['-c:a', 'flac', '-strict', '-2']],
  ['ADPCM, which becomes another codec', 'adpcm.avi', ['-c:a', 'adpcm_ima_wav']],
  ['FLAC of 5.1, which becomes another codec', 'surround.avi', ['-ac', '6', '-c:a', 'flac']],
])('replaces %s, and no other chunk', async (_name, name, options) => {
  const path = await film(name, ...options)
  // Notes of a camera behind the index, and bytes that are no chunk.
  await appendFile(path, Buffer.from('LIST\x10\0\0\0ncdtnctg\x04\0\0\0abcd\x01\x02\x03', 'latin1'))
  // It compares packets and their times, and finds the sound in the output.
  const { plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('avi')
  expect(plan.losses).toEqual([])
  expect(plan.notes.some((note) => note.includes('becomes'))).toBe(/^(adpcm|surround)/.test(name))
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const [input, output] = [await readFile(path), await readFile(part)]
  const [before, after] = [readAvi(input), readAvi(output)]
  const isNew = /\/(01wb|str[hf])$/
  const others = ({ chunks }: typeof before) => chunks.filter(({ path: chunk }) => !isNew.test(chunk))
  expect(others(after)).toEqual(others(before))
  expect(output.subarray(after.end)).toEqual(input.subarray(before.end))
  const changed = census.filter(({ fate }) => fate === 'rewritten').map(({ path: chunk }) => chunk)
  expect(new Set(changed)).toEqual(
    new Set([
      ...['', '/hdrl', '/hdrl/strl', '/hdrl/strl/strh', '/hdrl/strl/strf', '/movi', '/idx1'].map(
        (chunk) => `RIFF/AVI${chunk}`,
      ),
    ]),
  )
})

it.each([
  ['MP3', 'libmp3lame', [{ writer: 'avi', reason: 'its media state no size' }]],
  ['PCM', 'pcm_s16le', []],
])('reads %s in a file from a pipe, whose media state no size', async (_name, codec, declined) => {
  const path = folder.file(`pipe-${codec}.avi`)
  const film = [...picture(3), ...sweep, '-c:v', 'mpeg4', '-c:a', codec]
  await writeFile(path, await ffmpegOutput(...film, '-f', 'avi', 'pipe:1'))
  const { plan, verified } = await writtenFile(path)
  expect(plan.writing).toMatchObject({ kind: declined.length > 0 ? 'remux' : 'bytes', declined })
  expect(plan.losses).toEqual([])
  for (const offset of syncOffsets(verified)) expect(offset ?? 0).toBe(0)
})

it('replaces the second of two sounds', async () => {
  const path = folder.file('two.avi')
  const tracks = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:v', 'mpeg4', '-c:a:0', 'ac3', '-c:a:1', 'mp3']
  await ffmpeg(...picture(3), ...sweep, ...tracks, path)
  const { plan, verified } = await writtenFile(path, { replaced: [1] })
  expect(bytesWriting(plan).writer).toBe('avi')
  expect(verified.streams.map(({ fate }) => fate)).toEqual(['copied', 'copied', 'replaced'])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
})

it.each([
  ['MP3', ['-c:a', 'libmp3lame'], { form: 'super', base: 'list', oldIndices: 'first', oldFrom: 'list', spare: 0 }],
  ['MP3 of a variable rate', VARIABLE, { form: 'super', base: 'file', oldIndices: 'none', oldFrom: 'list', spare: 4 }],
  ['AC-3', ['-c:a', 'ac3'], { form: 'standard', base: 'file', oldIndices: 'none', oldFrom: 'file', spare: 0 }],
] as const)('replaces %s in a film of several parts (OpenDML)', async (_name, options, form) => {
  const path = await film('parts.avi', ...options)
  const input = asOpenDml(await readFile(path), form)
  await writeFile(path, input)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('avi')
  expect(plan.losses).toEqual([])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const output = await readFile(part)
  const names = (file: Buffer) => readParts(file).chunks.flatMap(({ path: name }) => (/01wb$/.test(name) ? [] : [name]))
  expect(names(output)).toEqual(names(input))
  const { supers } = readIndices(output)
  for (const [stream, id] of ['00dc', '01wb'].entries()) {
    const places = readParts(output).chunks.filter(({ path: name }) => name.endsWith(id))
    expect(supers[stream]?.entries).toEqual(places.map(({ at, size }) => ({ at, size })))
  }
})

it('leaves out a signature over the old bytes', async () => {
  const path = await film('signed.avi', '-c:a', 'ac3')
  const input = await readFile(path)
  const movi = input.indexOf('movi') - 8
  const signature = Buffer.from('C2PA\x04\0\0\0abcd', 'latin1')
  await writeFile(path, Buffer.concat([input.subarray(0, movi), signature, input.subarray(movi)]))
  const { plan, part } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('avi')
  expect(plan.losses.map(({ what }) => what)).toEqual(['RIFF/AVI/C2PA'])
  expect((await readFile(part)).includes('C2PA')).toBe(false)
})

it('replaces sound in lists that do not count the padding of their last chunk, as MEncoder writes them', async () => {
  const path = await film('odd.avi', '-c:a', 'ac3')
  const even = await readFile(path)
  const grow = (file: Buffer, name: string, bytes: number, from = 0) => {
    const at = file.indexOf(name, from) - 4
    file.writeUInt32LE(file.readUInt32LE(at) + bytes, at)
  }
  const sound = even.lastIndexOf('strl')
  const nameAt = sound + even.readUInt32LE(sound - 4)
  const name = Buffer.from('strn\x03\0\0\0ab\0\0', 'latin1')
  const input = Buffer.concat([even.subarray(0, nameAt), name, even.subarray(nameAt)])
  grow(input, 'strl', name.length - 1, sound)
  grow(input, 'hdrl', name.length - 1)
  grow(input, 'AVI ', name.length)
  grow(input, 'movi', -1)
  await writeFile(path, input)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('avi')
  expect(plan.losses).toEqual([])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const output = readAvi(await readFile(part))
  const others = ({ chunks }: typeof output) => chunks.filter(({ path: chunk }) => !/\/(01wb|str[hf])$/.test(chunk))
  const counted = Buffer.from(input)
  for (const list of ['strl', 'hdrl', 'movi']) grow(counted, list, 1, list === 'strl' ? sound : 0)
  expect(others(output)).toEqual(others(readAvi(counted)))
})

it.each([
  [
    'an index that does not fit its packets',
    (file: Buffer) => {
      file.writeUInt32LE(7, file.indexOf('01wb', file.indexOf('idx1')) + 8)
      return file
    },
    /its index does not fit/,
  ],
  [
    'a palette that makes ffmpeg read beyond its chunk',
    (file: Buffer) => {
      const first = file.indexOf('movi') + 4
      const palette = Buffer.from('00pc\x04\0\0\0\0\x62\0\0', 'latin1')
      const made = Buffer.concat([file.subarray(0, first), palette, file.subarray(first, file.lastIndexOf('idx1'))])
      made.writeUInt32LE(made.readUInt32LE(first - 8) + palette.length, first - 8)
      made.writeUInt32LE(made.length - 8, 4)
      return made
    },
    /states more colours than it has/,
  ],
  [
    'an index of OpenDML that does not fit its packets',
    (film: Buffer) => {
      const file = asOpenDml(film, { form: 'super', base: 'list', oldIndices: 'none', oldFrom: 'list', spare: 0 })
      const index = file.lastIndexOf('ix01')
      file.writeUInt32LE(file.readUInt32LE(index + 32) + 2, index + 32)
      return file
    },
    /its index at byte \d+ does not fit/,
  ],
  [
    'an index of an unknown kind',
    (film: Buffer) => {
      const file = asOpenDml(film, { form: 'super', base: 'list', oldIndices: 'none', oldFrom: 'list', spare: 0 })
      file.writeUInt8(0x80, file.lastIndexOf('ix01') + 11)
      return file
    },
    /form that voxmux does not know/,
  ],
  [
    'sound that starts late',
    (file: Buffer) => {
      file.writeUInt32LE(9, file.indexOf('auds') + 28)
      return file
    },
    /starts late/,
  ],
])('leaves %s to ffmpeg', async (_what, change, expected) => {
  const path = await film('odd.avi', '-c:a', 'ac3')
  const file = await readFile(path)
  await writeFile(path, change(file))
  const { plan } = await writtenFile(path)
  expect(plan.writing).toMatchObject({ kind: 'remux', declined: [{ writer: 'avi' }] })
  expect(plan.writing.declined[0]?.reason).toMatch(expected)
})
