import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { AudioStreamInfo, MediaInfo } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { lengthOf } from '../../../src/media/write/byte-plan.js'
import { censusFaults } from '../../../src/media/write/census.js'
import { copyPlan } from '../../../src/media/write/copy-plan.js'
import { elementaryFrames } from '../../../src/media/write/frames/elementary.js'
import { flacFrames } from '../../../src/media/write/frames/flac.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { chunkFile, chunkStructures } from '../../../src/media/write/structure/chunks.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import fc from '../../helpers/properties.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'
import { id3Frame } from './made-tags.js'

const folder = folderOfTests()

function id3(frames: readonly Buffer[], paddingBytes = 20): Buffer {
  const body = Buffer.concat([...frames, Buffer.alloc(paddingBytes)])
  const head = Buffer.from('ID3\x03\0\0\0\0\0\0', 'latin1')
  for (let at = 0; at < 4; at++) head[6 + at] = (body.length >> (7 * (3 - at))) & 0x7f
  return Buffer.concat([head, body])
}

function ape(body: Buffer): Buffer {
  const footer = Buffer.alloc(32)
  footer.write('APETAGEX', 'latin1')
  footer.writeUInt32LE(2000, 8)
  footer.writeUInt32LE(body.length + 32, 12)
  return Buffer.concat([body, footer])
}

function id3v1(title: string): Buffer {
  const tag = Buffer.alloc(128)
  tag.write(`TAG${title}`, 'latin1')
  return tag
}

const [title, unknown] = [id3Frame('TIT2', Buffer.from('\0A title')), id3Frame('XYZZ', Buffer.from('nobody knows'))]
const claim = id3Frame('GEOB', Buffer.from('\0application/x-c2pa-manifest-store\0\0\0a signed claim'))
const tail = Buffer.concat([
  Buffer.from('garbage behind the sound'),
  ape(Buffer.from('items of APE')),
  id3v1('A title'),
])

describe('frames between tags', () => {
  it.each([
    ['mp3', ['-c:a', 'libmp3lame', '-id3v2_version', '0']],
    ['aac', ['-c:a', 'aac', '-f', 'adts']],
  ])('encodes .%s again and keeps every tag', async (extension, options) => {
    const plain = folder.file(`plain.${extension}`)
    await ffmpeg(...tone(4, 44_100, 2), ...options, plain)
    const path = folder.file(`tagged.${extension}`)
    const head = id3([title, claim, unknown])
    await writeFile(path, Buffer.concat([head, await readFile(plain), tail]))
    const { plan, part, verified } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('frames')
    expect(plan.losses.map(({ what }) => what)).toEqual(['ID3v2/GEOB'])
    const output = await readFile(part)
    const keptHead = id3([title, unknown], 20 + claim.length)
    expect(output.subarray(0, head.length).equals(keptHead)).toBe(true)
    expect(output.subarray(-tail.length).equals(tail)).toBe(true)
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(44)
  })

  it('accounts for every byte of any tags around any frames, and changes the frames alone', async () => {
    const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((list) => Buffer.from(list))
    const frameId = fc.constantFrom('TIT2', 'PRIV', 'ZZZZ', 'APIC', 'TXXX')
    const frames = fc.array(
      fc.tuple(frameId, bytes(40)).map(([name, body]) => id3Frame(name, body)),
      { maxLength: 5 },
    )
    // MPEG-1 layer III, 128 kbit/s, 44.1 kHz: 417 bytes.
    const frame = Buffer.alloc(417)
    frame.writeUInt32BE(0xfffb_9000)
    const path = folder.file('property.mp3')
    const donor = folder.file('property.donor')
    await writeFile(donor, 'new frames')
    const stream = {
      kind: 'audio',
      index: 0,
      audioIndex: 0,
      codec: 'mp3',
      startSec: 0,
      sampleRate: 44_100,
      channels: 2,
    }
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          frames.map((list) => id3(list)),
          { maxLength: 2 },
        ),
        fc.nat({ max: 9 }),
        fc.array(fc.oneof(bytes(60).map(ape), fc.constant(id3v1('x'))), { maxLength: 3 }),
        async (heads, count, tails) => {
          const [before, behind] = [Buffer.concat(heads), Buffer.concat(tails)]
          const sound = Buffer.concat(Array.from({ length: count + 2 }, () => frame))
          await writeFile(path, Buffer.concat([before, sound, behind]))
          const sizeBytes = before.length + sound.length + behind.length
          const media = { path, sizeBytes, container: 'mp3', startSec: 0 } as unknown as MediaInfo
          const input = stream as unknown as AudioStreamInfo
          const encoding = { codec: 'mp3', encoder: 'libmp3lame', lossless: false, bitRate: 1, options: [] }
          const wanted = { media, tracks: [{ input, encoding, channels: 2 }] }
          const parsed = await elementaryFrames.parse(media)
          if (parsed === null || typeof parsed === 'string') throw new Error('not parsed')
          const survey = elementaryFrames.survey(parsed, wanted)
          if (survey.kind === 'declines') throw new Error(survey.reason)
          expect(censusFaults(survey.census, sizeBytes)).toEqual([])
          const read = await elementaryFrames.readDonor(donor, wanted.tracks[0] as never, undefined, parsed)
          const layout = elementaryFrames.layOut(parsed, wanted, [read])
          const target = folder.file(`property-${run++}.out`)
          await copyPlan(layout, target, { input: path, donors: [donor] })
          expect(lengthOf(layout.pieces)).toBe(before.length + 10 + behind.length)
          expect(await readFile(target)).toEqual(Buffer.concat([before, Buffer.from('new frames'), behind]))
        },
      ),
      { numRuns: process.env.VOXMUX_SOAK ? 500 : 30 },
    )
  })

  it('accounts for every byte of any blocks of FLAC, and changes STREAMINFO and the frames alone', async () => {
    const block = (type: number, body: Buffer, isLast: boolean) => {
      const head = Buffer.alloc(4)
      head.writeUInt32BE(body.length)
      head[0] = type + (isLast ? 0x80 : 0)
      return Buffer.concat([head, body])
    }
    const flac = (info: number, blocks: readonly (readonly [number, Buffer])[], sound: Buffer) =>
      Buffer.concat([
        Buffer.from('fLaC'),
        block(0, Buffer.alloc(34, info), blocks.length === 0),
        ...blocks.map(([type, body], place) => block(type, body, place === blocks.length - 1)),
        sound,
      ])
    const bytes = fc.uint8Array({ maxLength: 60 }).map((list) => Buffer.from(list))
    // Any type but STREAMINFO, which is first, and SEEKTABLE, which needs real frames.
    const type = fc.integer({ min: 1, max: 126 }).filter((number) => number !== 3)
    const [path, donor, target] = [folder.file('any.flac'), folder.file('any.donor'), folder.file('any.out')]
    const fresh = Buffer.from([0xff, 0xf8, 1, 2, 3])
    await writeFile(donor, flac(7, [[4, Buffer.from('of the encoder')]], fresh))
    const blocks = fc.array(fc.tuple(type, bytes), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.boolean(), blocks, bytes, fc.boolean(), async (hasHead, list, sound, hasTail) => {
        const head = hasHead ? id3([title]) : Buffer.alloc(0)
        const end = hasTail ? id3v1('end') : Buffer.alloc(0)
        const old = Buffer.concat([Buffer.from([0xff, 0xf8]), sound])
        const input = Buffer.concat([head, flac(9, list, old), end])
        await writeFile(path, input)
        const media = { path, sizeBytes: input.length, container: 'flac', startSec: 0 } as unknown as MediaInfo
        const stream = { kind: 'audio', audioIndex: 0, startSec: 0, sampleRate: 48_000 } as unknown as AudioStreamInfo
        const encoding = { codec: 'flac', encoder: 'flac', lossless: true, bitRate: null, options: [] }
        const track = { input: stream, encoding, channels: 2 }
        const parsed = await flacFrames.parse(media)
        if (parsed === null || typeof parsed === 'string') throw new Error('not parsed')
        const survey = flacFrames.survey(parsed, { media, tracks: [track] })
        if (survey.kind === 'declines') throw new Error(survey.reason)
        expect(censusFaults(survey.census, input.length)).toEqual([])
        const read = await flacFrames.readDonor(donor, track, undefined, parsed)
        const layout = flacFrames.layOut(parsed, { media, tracks: [track] }, [read])
        await copyPlan(layout, target, { input: path, donors: [donor] })
        expect(await readFile(target)).toEqual(Buffer.concat([head, flac(7, list, fresh), end]))
        await rm(target)
      }),
      { numRuns: process.env.VOXMUX_SOAK ? 500 : 30 },
    )
  })

  it('names the bytes before FLAC without a header, which the remux skips', async () => {
    const path = folder.file('headless.flac')
    await ffmpeg(...tone(2), '-c:a', 'flac', path)
    const bytes = await readFile(path)
    const frames = bytes.subarray(bytes.indexOf(Buffer.from([0xff, 0xf8])))
    const lossesWith = async (before: Buffer) => {
      await writeFile(path, Buffer.concat([before, frames]))
      const { losses } = await planOutput(await probe(path), { replaced: [0] })
      return losses.map(({ what }) => what)
    }
    expect(await lossesWith(Buffer.alloc(0))).toEqual([])
    expect(await lossesWith(Buffer.alloc(1000, 0x12))).toEqual(['bytes before the sound'])
  })

  it('keeps every metadata block of FLAC, and leads its seek points to the new frames', async () => {
    const plain = folder.file('plain.flac')
    await ffmpeg(...tone(6, 44_100, 2), '-metadata', 'title=A title', plain)
    const flac = await readFile(plain)
    const block = (type: number, body: Buffer) => {
      const head = Buffer.alloc(4)
      head.writeUInt32BE(body.length)
      head[0] = type
      return Buffer.concat([head, body])
    }
    const points = Buffer.alloc(18 * 3, 0xff)
    for (const [place, sample] of [0, 100_000].entries()) {
      points.writeBigUInt64BE(BigInt(sample), 18 * place)
      points.writeBigUInt64BE(0n, 18 * place + 8)
      points.writeUInt16BE(4608, 18 * place + 16)
    }
    const extra = [
      block(2, Buffer.from('APPLand what nobody knows')),
      block(3, points),
      block(99, Buffer.from('of later')),
    ]
    const path = folder.file('blocks.flac')
    await writeFile(path, Buffer.concat([flac.subarray(0, 42), ...extra, flac.subarray(42), id3v1('end')]))
    const { plan, part } = await writtenFile(path)
    const fates = bytesWriting(plan).census.map(({ path: name, fate }) => `${name} ${fate}`)
    expect(fates).toEqual([
      ...['ID3v1 kept', 'fLaC kept', 'STREAMINFO rewritten', 'APPLICATION kept', 'SEEKTABLE rewritten'],
      ...['block 99 kept', 'VORBIS_COMMENT kept', 'PADDING kept', 'frames rewritten'],
    ])
    const output = await readFile(part)
    const tableAt = 42 + (extra[0]?.length ?? 0) + 4
    const framesAt = bytesWriting(plan).census.at(-1)?.start ?? 0
    for (const place of [0, 1]) {
      const offset = Number(output.readBigUInt64BE(tableAt + 18 * place + 8))
      expect(output.readUInt16BE(framesAt + offset) & 0xfffc).toBe(0xfff8)
    }
    expect(Number(output.readBigUInt64BE(tableAt + 18))).toBeLessThanOrEqual(100_000)
    expect(output.readBigUInt64BE(tableAt + 36)).toBe(0xffff_ffff_ffff_ffffn)
    const same = (from: number, to: number, at = from) =>
      output.subarray(at, at + to - from).equals(bytesBefore.subarray(from, to))
    const bytesBefore = await readFile(path)
    expect([same(0, 8), same(42, tableAt), same(tableAt + 54, framesAt)]).toEqual([true, true, true])
    expect(output.subarray(-128).equals(id3v1('end'))).toBe(true)
  })
})

describe('chunks', () => {
  it('accounts for every byte of any chunks, odd sizes and trailing bytes included', async () => {
    const path = folder.file('property.wav')
    const chunk = fc.record({
      id: fc.constantFrom('LIST', 'bext', 'iXML', 'zzzz', 'JUNK', 'cue '),
      body: fc.uint8Array({ maxLength: 33 }),
    })
    const bytesOf = ({ id, body }: { id: string; body: Uint8Array }) => {
      const head = Buffer.alloc(8)
      head.write(id, 'latin1')
      head.writeUInt32LE(body.length, 4)
      return Buffer.concat([head, body, Buffer.alloc(body.length & 1)])
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk),
        fc.array(chunk),
        fc.nat({ max: 50 }),
        fc.uint8Array({ maxLength: 7 }),
        async (before, behind, size, rest) => {
          const data = { id: 'data', body: new Uint8Array(size) }
          const body = Buffer.concat([...[...before, data, ...behind].map(bytesOf)])
          const head = Buffer.from('RIFF\0\0\0\0WAVE', 'latin1')
          head.writeUInt32LE(4 + body.length, 4)
          await writeFile(path, Buffer.concat([head, body, rest]))
          const file = await open(path, 'r')
          const parsed = await chunkFile(file, 12 + body.length + rest.length)
          await file.close()
          // A header that states no samples is that of a recorder which lost its power: all behind it are samples.
          const known = [...before, data, ...(size > 0 ? behind : [])]
          expect(parsed?.chunks.map(({ id }) => id)).toEqual(known.map(({ id }) => id))
          const census = chunkStructures(parsed as never).map((part) => ({
            ...part,
            fate: 'kept' as const,
            reason: null,
          }))
          expect(censusFaults(census, 12 + body.length + rest.length)).toEqual([])
        },
      ),
      { numRuns: process.env.VOXMUX_SOAK ? 500 : 50 },
    )
  })
})
