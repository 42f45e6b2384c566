import { createHash } from 'node:crypto'
import { open, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { type AudioStreamInfo, audioStreams } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { measureSound } from '../../../src/media/verify/measure-sound.js'
import { chunkFile } from '../../../src/media/write/structure/chunks.js'
import { ebur128, ffmpeg, ffmpegOutput, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, changedStructures, syncOffsets, writtenFile } from '../../helpers/written-file.js'
import { checkedSums, ebmlTree } from './matroska/ebml-tree.js'

const folder = folderOfTests()

/** A chunk as RIFF writes it. */
function chunk(id: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(id, 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body, Buffer.alloc(body.length & 1)])
}

const samples = (path: string) => ffmpegOutput('-i', path, '-map', '0:a:0', '-f', 's16le', 'pipe:1')

describe('PCM in place', () => {
  it.each([
    ['wav', 'pcm_s16le', 'data', 4, 'LE'],
    ['aiff', 'pcm_s16be', 'SSND', 4, 'BE'],
  ] as const)(
    'changes the samples of a .%s that states more of them than it has',
    async (extension, codec, id, at, order) => {
      const path = folder.file(`stated.${extension}`)
      await ffmpeg(...tone(2, 48_000, 2), '-c:a', codec, path)
      const file = await readFile(path)
      const size = file.indexOf(id) + at
      if (order === 'LE') file.writeUInt32LE(file.readUInt32LE(size) + 1000, size)
      else file.writeUInt32BE(file.readUInt32BE(size) + 1000, size)
      await writeFile(path, file)
      const { plan, part, verified } = await writtenFile(path)
      const { writer, census } = bytesWriting(plan)
      expect([writer, plan.losses]).toEqual(['pcm-in-place', []])
      expect(await changedStructures(path, part, census)).toEqual([expect.stringContaining(id)])
      for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
    },
  )

  type Form = readonly [extension: string, codec: string, sound: string]
  /** A form of each way to lay out chunks. */
  const forms: readonly Form[] = [
    ['wav', 'pcm_alaw', 'RIFF/WAVE/data'],
    ['aiff', 'pcm_s24be', 'FORM/AIFF/SSND'],
    ['mov', 'pcm_s24be', 'mdat'],
    ['mxf', 'pcm_s16le', 'essence'],
    ['mkv', 'pcm_f32le', 'Segment/Cluster'],
    ['au', 'pcm_s16be', 'AU/data'],
  ]
  const further: readonly Form[] = [
    ['w64', 'pcm_s24le', 'W64/data'],
    ['caf', 'pcm_s16be', 'caff/data'],
    ['avi', 'pcm_s16le', 'RIFF/AVI/LIST'],
  ]

  it('keeps the bytes behind the last whole frame of a WAV', async () => {
    const path = folder.file('odd.wav')
    await ffmpeg(...tone(2, 48_000, 2), '-bitexact', '-c:a', 'pcm_s16le', path)
    const file = Buffer.concat([await readFile(path), Buffer.from([1, 2, 3, 0])])
    file.writeUInt32LE(file.length - 8, 4)
    file.writeUInt32LE(file.length - 45, 40)
    await writeFile(path, file)
    const { plan, part } = await writtenFile(path)
    const { writer, census } = bytesWriting(plan)
    expect(writer).toBe('pcm-in-place')
    expect(await changedStructures(path, part, census)).toEqual(['RIFF/WAVE/data'])
    expect((await readFile(part)).subarray(-4)).toEqual(file.subarray(-4))
  })

  it('keeps the summary and the markers that Vegas writes into a W64 before its samples', async () => {
    const [plain, path] = [folder.file('plain.w64'), folder.file('vegas.w64')]
    await ffmpeg(...tone(2, 48_000, 2), '-bitexact', '-c:a', 'pcm_s16le', plain)
    const file = await readFile(plain)
    const data = file.indexOf('data')
    const chunk = (guid: string, body: Buffer) => {
      const head = Buffer.concat([Buffer.from(guid, 'hex'), Buffer.alloc(8)])
      head.writeBigUInt64LE(BigInt(head.length + body.length), 16)
      return Buffer.concat([head, body, Buffer.alloc((8 - (body.length % 8)) % 8)])
    }
    const summary = Buffer.from('\x01\0\0\0INAM\x08\0\0\0T\0a\0l\0e\0', 'latin1')
    const added = [
      chunk('bc945f925a52d21186dc00c04f8edb8a', summary),
      chunk('abf76256392dd21186c700c04f8edb8a', Buffer.alloc(13)),
    ]
    const made = Buffer.concat([file.subarray(0, data), ...added, file.subarray(data)])
    made.writeBigUInt64LE(BigInt(made.length), 16)
    await writeFile(path, made)
    const { plan, part } = await writtenFile(path)
    const { writer, census } = bytesWriting(plan)
    expect([writer, plan.losses]).toEqual(['pcm-in-place', []])
    expect(census.map(({ path: name }) => name)).toEqual(['W64', 'W64/fmt', 'W64/bc945f92', 'W64/abf76256', 'W64/data'])
    expect(await changedStructures(path, part, census)).toEqual(['W64/data'])
  })

  it.each([
    ['SoX', 0x7fff_f000],
    ['arecord', 0x7fff_ff00],
    ['LAME', 0xffff_ffff],
  ])('changes the samples of a WAV that %s wrote into a pipe', async (name, size) => {
    const path = folder.file(`${name}.wav`)
    await ffmpeg(...tone(2, 48_000, 2), '-c:a', 'pcm_s16le', path)
    const file = await readFile(path)
    const data = file.indexOf('data')
    file.writeUInt32LE(size, data + 4)
    file.writeUInt32LE(size < 0x8000_0000 ? size + data : size, 4)
    await writeFile(path, file)
    const { plan, part } = await writtenFile(path)
    const { writer, census } = bytesWriting(plan)
    expect(writer).toBe('pcm-in-place')
    expect(await changedStructures(path, part, census)).toEqual(['RIFF/WAVE/data'])
    expect((await readFile(part)).subarray(0, data + 8)).toEqual(file.subarray(0, data + 8))
  })

  it.each(process.env.VOXMUX_SOAK ? [...forms, ...further] : forms)(
    'changes the samples of .%s (%s) and nothing else',
    async (extension, codec, sound) => {
      const isFilm = ['mov', 'mxf', 'avi', 'mkv'].includes(extension)
      const path = folder.file(`${codec}.${extension}`)
      const video = isFilm ? ['-c:v', extension === 'mxf' ? 'mpeg2video' : 'mpeg4'] : []
      const tags = ['-metadata', 'title=A title']
      await ffmpeg(...(isFilm ? picture(2) : []), ...tone(2, 48_000, 2), ...video, ...tags, '-c:a', codec, path)
      const { plan, part, verified } = await writtenFile(path)
      const writing = bytesWriting(plan)
      expect(writing.writer).toBe('pcm-in-place')
      expect(plan.losses).toEqual([])
      const changed = await changedStructures(path, part, writing.census)
      expect([...new Set(changed.map((name) => name.split('/', extension === 'mxf' ? 1 : 9).join('/')))]).toEqual([
        sound,
      ])
      const named = writing.census.filter(({ fate }) => fate === 'rewritten').map(({ path: name }) => name)
      for (const name of changed) expect(named).toContain(name)
      for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
      if (extension === 'mkv') {
        const output = await readFile(part)
        // It throws for a checksum that is wrong.
        expect(checkedSums(output, ebmlTree(output))).toBeGreaterThan(3)
      }
      const [before, after] = await Promise.all([samples(path), samples(part)])
      expect(after.length).toBe(before.length)
      let most = 0
      for (let at = 0; at < before.length; at += 2)
        most = Math.max(most, Math.abs(before.readInt16LE(at) - 2 * after.readInt16LE(at)))
      expect(most).toBeLessThanOrEqual(codec === 'pcm_alaw' ? 1600 : 4)
    },
  )

  it('measures again what a Broadcast WAV states of its sound, and keeps every other chunk', async () => {
    const plain = folder.file('plain.wav')
    await ffmpeg(...tone(4), '-c:a', 'pcm_s16le', '-fflags', '+bitexact', plain)
    const bytes = await readFile(plain)
    const handle = await open(plain, 'r')
    const data = (await chunkFile(handle, bytes.length))?.chunks.find(({ id }) => id === 'data')
    await handle.close()
    const sound = bytes.subarray(data?.bodyStart, (data?.bodyStart ?? 0) + (data?.bodyLength ?? 0))
    const bext = Buffer.alloc(602)
    bext.write('Interview, take 3', 'latin1')
    bext.write('The recorder', 256, 'latin1')
    bext.writeUInt16LE(2, 346)
    bext.writeInt16LE(-2300, 412)
    const path = folder.file('broadcast.wav')
    const parts = [
      ...[bytes.subarray(12, 36), chunk('bext', bext), chunk('data', sound), chunk('zzzz', Buffer.from('unknown'))],
      ...[chunk('MD5 ', createHash('md5').update(sound).digest()), chunk('C2PA', Buffer.from('a signed claim'))],
    ]
    const body = Buffer.concat([Buffer.from('WAVE', 'latin1'), ...parts])
    await writeFile(path, chunk('RIFF', body))

    const { plan, part } = await writtenFile(path)
    const writing = bytesWriting(plan)
    const fates = new Map(writing.census.map(({ path: name, fate }) => [name.split('/').at(-1), fate]))
    expect(Object.fromEntries(fates)).toEqual({
      ...{
        WAVE: 'kept',
        fmt: 'kept',
        bext: 'rewritten',
        data: 'rewritten',
        zzzz: 'kept',
        MD5: 'rewritten',
        C2PA: 'lost',
      },
    })
    expect(plan.losses.map(({ what }) => what)).toEqual(['RIFF/WAVE/C2PA'])
    const output = await readFile(part)
    expect(output.length).toBe(chunk('RIFF', body).length)
    expect(output.includes('a signed claim')).toBe(false)
    const written = await open(part, 'r')
    const chunks = (await chunkFile(written, output.length))?.chunks ?? []
    await written.close()
    const bodyOf = (id: string) => {
      const found = chunks.find((each) => each.id === id)
      return output.subarray(found?.bodyStart, (found?.bodyStart ?? 0) + (found?.bodyLength ?? 0))
    }
    expect(bodyOf('MD5 ')).toEqual(createHash('md5').update(bodyOf('data')).digest())
    const newBext = bodyOf('bext')
    expect(newBext.subarray(0, 412)).toEqual(bext.subarray(0, 412))
    const figures = [412, 414, 416, 418, 420].map((at) => newBext.readInt16LE(at) / 100)
    const media = await probe(part)
    const heard = await measureSound(media, audioStreams(media)[0] as AudioStreamInfo, { voiced: null })
    const { integratedLufs, truePeakDbtp, momentaryMaxLufs, shortTermMaxLufs } = heard
    const { range } = await ebur128(part)
    for (const [place, by] of [integratedLufs, range, truePeakDbtp, momentaryMaxLufs, shortTermMaxLufs].entries())
      expect(Math.abs((figures[place] ?? 0) - (by ?? 0)), `figure ${place} against ffmpeg`).toBeLessThanOrEqual(0.1)
    expect(bodyOf('zzzz').toString()).toBe('unknown')
  })
})
