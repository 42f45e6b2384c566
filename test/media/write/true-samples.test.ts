import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { audioStreams } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpegOutput, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, changedStructures, syncOffsets, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()
/** 24 bits in the upper bytes of 32, two channels at 48 kHz, little-endian. */
let sound: Buffer
beforeAll(async () => {
  sound = await ffmpegOutput(...tone(2, 48_000, 2), '-c:a', 'pcm_s32le', '-f', 's32le', 'pipe:1')
  for (let at = 0; at < sound.length; at += 4) sound[at] = 0
})

type Order = 'LE' | 'BE'

function uint(value: number, bytes: number, order: Order): Buffer {
  const number = Buffer.alloc(bytes)
  if (order === 'LE') number.writeUIntLE(value, 0, bytes)
  else number.writeUIntBE(value, 0, bytes)
  return number
}

/** A RIFF or RIFX with a format, samples and a chunk behind them. */
function wave(order: Order, format: Buffer, data: Buffer): Buffer {
  const parts = [
    chunk(order, 'fmt ', format),
    chunk(order, 'data', data),
    chunk(order, 'zzzz', Buffer.from('unknown.')),
  ]
  return chunk(order, order === 'LE' ? 'RIFF' : 'RIFX', Buffer.concat([Buffer.from('WAVE'), ...parts]))
}

function chunk(order: Order, id: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(id), uint(body.length, 4, order), body])
}

function format(order: Order, bytes: number, bits: number, ...extension: readonly Buffer[]): Buffer {
  const tag = extension.length > 0 ? 0xfffe : 1
  const [short, long] = [(value: number) => uint(value, 2, order), (value: number) => uint(value, 4, order)]
  const fields = [short(tag), short(2), long(48_000), long(96_000 * bytes), short(2 * bytes), short(bits)]
  return Buffer.concat([...fields, ...extension])
}

/** `WAVE_FORMAT_EXTENSIBLE`: 24 valid bits of stereo PCM. */
const EXTENSION = Buffer.from('16001800030000000100000000001000800000aa00389b71', 'hex')

/** The same of a RIFX, with the valid bits still to write. */
const EXTENDED = Buffer.from('00160000000000030001000000001000800000aa00389b71', 'hex')

/** A CAF with samples, of 24 bits in 4 bytes. */
function caf(flags: number, data: Buffer): Buffer {
  const rate = Buffer.alloc(8)
  rate.writeDoubleBE(48_000)
  const chunk = (id: string, body: Buffer) =>
    Buffer.concat([Buffer.from(id), Buffer.alloc(4), uint(body.length, 4, 'BE'), body])
  const numbers = [flags, 8, 1, 2, 24].map((value) => uint(value, 4, 'BE'))
  const description = Buffer.concat([rate, Buffer.from('lpcm'), ...numbers])
  return Buffer.concat([
    ...[Buffer.from('caff\0\x01\0\0', 'latin1'), chunk('desc', description)],
    ...[chunk('data', Buffer.concat([Buffer.alloc(4), data])), chunk('zzzz', Buffer.from('unknown'))],
  ])
}

const swapped = (data: Buffer) => Buffer.from(data).swap32()
/** The upper half of each value, high byte first. */
const narrow = (data: Buffer) => Buffer.from(data.filter((_, at) => at % 4 > 1)).swap16()

/** Bytes of a value in a file, and their order. */
type Form = readonly [number, Order, () => Buffer]
const FORMS: Readonly<Record<string, Form>> = {
  'extensible.wav': [4, 'LE', () => wave('LE', format('LE', 4, 32, EXTENSION), sound)],
  'rifx.wav': [2, 'BE', () => wave('BE', format('BE', 2, 16), narrow(sound))],
  'big.caf': [4, 'BE', () => caf(0, swapped(sound))],
}
const FURTHER: Readonly<Record<string, Form>> = {
  'plain.wav': [4, 'LE', () => wave('LE', format('LE', 4, 24), sound)],
  'rifx-24.wav': [4, 'BE', () => wave('BE', format('BE', 4, 24), swapped(sound))],
  'little.caf': [4, 'LE', () => caf(2, sound)],
}

describe('samples that ffmpeg decodes as noise', () => {
  it.each(Object.entries(process.env.VOXMUX_SOAK ? { ...FORMS, ...FURTHER } : FORMS))(
    'are written in place: %s',
    async (name, [bytes, order, made]) => {
      const path = folder.file(name)
      await writeFile(path, made())
      const media = await probe(path)
      expect(media.durationSec).toBeCloseTo(2, 6)
      expect(audioStreams(media)[0]?.bitsPerSample).toBe(bytes === 4 ? 24 : 16)
      const { plan, part, verified } = await writtenFile(path)
      const { writer, census } = bytesWriting(plan)
      expect(writer).toBe('pcm-in-place')
      expect(plan.losses).toEqual([])
      for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
      const changed = await changedStructures(path, part, census)
      expect(changed).toEqual([expect.stringMatching(/\/data$/)])
      const [before, after] = await Promise.all([readFile(path), readFile(part)])
      const start = before.indexOf('data') + (name.endsWith('.caf') ? 16 : 8)
      const end = before.indexOf('zzzz')
      let [most, filled] = [0, 0]
      for (let at = start; at < end; at += bytes) {
        const value = (file: Buffer) => (order === 'LE' ? file.readIntLE(at, bytes) : file.readIntBE(at, bytes))
        most = Math.max(most, Math.abs(value(before) - 2 * value(after)))
        if (after[order === 'LE' ? at : at + 3] !== 0) filled++
      }
      if (bytes === 4) expect(filled).toBe(0)
      expect(most).toBeLessThanOrEqual(bytes === 4 ? 512 : 2)
    },
  )

  it.each([
    ['16 bits', 2, EXTENDED, 'pcm_s16be'],
    ['24 bits', 3, EXTENDED, 'pcm_s24be'],
    ['a format without a name for its channels', 2, Buffer.alloc(2), 'pcm_s16be'],
  ])('are written in place if the format of a RIFX is long: %s', async (_, bytes, extension, codec) => {
    const path = folder.file('long.wav')
    const fields = format('BE', bytes, 8 * bytes, extension)
    // Without the extension, the tag is that of PCM.
    if (extension.length === 2) fields.writeUInt16BE(1, 0)
    else fields.writeUInt16BE(8 * bytes, 18)
    const data = bytes === 2 ? narrow(sound) : swapped(sound).filter((_, at) => at % 4 < 3)
    const parts = [Buffer.from('WAVE'), chunk('BE', 'zzzz', Buffer.from('unknown.')), chunk('BE', 'fmt ', fields)]
    await writeFile(path, chunk('BE', 'RIFX', Buffer.concat([...parts, chunk('BE', 'data', Buffer.from(data))])))
    const media = await probe(path)
    expect(media).toMatchObject({ container: 'wav', durationSec: 2 })
    expect(audioStreams(media)[0]).toMatchObject({ codec, sampleRate: 48_000, channelLayout: 'stereo' })
    const { plan, part, verified } = await writtenFile(path)
    const { writer, census } = bytesWriting(plan)
    expect(writer).toBe('pcm-in-place')
    for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
    expect(await changedStructures(path, part, census)).toEqual(['RIFX/WAVE/data'])
    const [before, after] = await Promise.all([readFile(path), readFile(part)])
    let most = 0
    for (let at = before.indexOf('data') + 8; at < before.length; at += bytes) {
      most = Math.max(most, Math.abs(before.readIntBE(at, bytes) - 2 * after.readIntBE(at, bytes)))
    }
    expect(most).toBeLessThanOrEqual(2)
  })

  it('are refused if chunks follow those of a RIFX with a long format', async () => {
    const path = folder.file('followed.wav')
    await writeFile(path, wave('BE', format('BE', 2, 16, EXTENDED), narrow(sound)))
    await expect(probe(path)).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_CONTAINER', errorCode: -16 })
  })

  it.each([
    ['lie in the lower bytes', (data: Buffer) => Buffer.concat([data.subarray(1), Buffer.alloc(1)])],
    ['are numbers of Cool Edit', coolEdit],
  ])('are refused if they %s', async (_, made) => {
    const path = folder.file('unknown.wav')
    await writeFile(path, wave('LE', format('LE', 4, 24), made(sound)))
    await expect(probe(path)).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_CODEC', errorCode: -7 })
  })
})

/** Samples of 16 bits as floating point of 24: the lowest byte of each is zero, too. */
function coolEdit(data: Buffer): Buffer {
  const numbers = Buffer.alloc(data.length)
  for (let at = 0; at < data.length; at += 4) numbers.writeFloatLE(256 * data.readInt16LE(at + 2), at)
  return numbers
}
