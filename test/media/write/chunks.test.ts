import { createHash } from 'node:crypto'
import { open, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { type ChunkForm, chunkFile } from '../../../src/media/write/structure/chunks.js'
import { ffmpeg, ffmpegOutput, ffprobeJson, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()

/** A chunk in the form of a family, with its padding. */
function chunk(form: ChunkForm, id: string, body: Buffer): Buffer {
  const head = Buffer.alloc(form === 'w64' ? 24 : form === 'caf' ? 12 : 8)
  head.write(id, 'latin1')
  if (form === 'w64') head.writeBigUInt64LE(BigInt(24 + body.length), 16)
  else if (form === 'caf') head.writeBigInt64BE(BigInt(body.length), 4)
  else if (form === 'aiff') head.writeUInt32BE(body.length, 4)
  else head.writeUInt32LE(body.length, 4)
  const align = form === 'w64' ? 8 : form === 'caf' ? 1 : 2
  return Buffer.concat([head, body, Buffer.alloc((align - (body.length % align)) % align)])
}

/** A file with further chunks at its end. */
function withChunks(file: Buffer, form: ChunkForm, more: readonly Buffer[]): Buffer {
  const odd = form === 'riff' || form === 'rf64' || form === 'aiff' ? file.length & 1 : 0
  const made = Buffer.concat([file, Buffer.alloc(odd), ...more])
  if (form === 'riff') made.writeUInt32LE(made.length - 8, 4)
  if (form === 'aiff') made.writeUInt32BE(made.length - 8, 4)
  if (form === 'w64') made.writeBigUInt64LE(BigInt(made.length), 16)
  if (form === 'rf64') made.writeBigUInt64LE(BigInt(made.length - 8), 20)
  return made
}

async function chunksOf(path: string): Promise<ReadonlyMap<string, Buffer>> {
  const bytes = await readFile(path)
  const handle = await open(path, 'r')
  const read = await chunkFile(handle, bytes.length)
  await handle.close()
  return new Map(read?.chunks.map(({ id, start, end }) => [id.trim(), bytes.subarray(start, end)]))
}

const CODING = ['fmt', 'fact', 'data', 'ds64', 'COMM', 'SSND', 'FVER', 'desc', 'pakt', 'kuki']

describe('sound of another coding among chunks', () => {
  type Form = readonly [name: string, encoder: string, form: ChunkForm, codec: string, options: readonly string[]]
  const forms: readonly Form[] = [
    ['adpcm.wav', 'adpcm_ms', 'riff', 'pcm_s16le', []],
    ['adpcm-rf64.wav', 'adpcm_ms', 'rf64', 'pcm_s16le', ['-rf64', 'always']],
    ['eac3-rf64.wav', 'eac3', 'rf64', 'eac3', ['-rf64', 'always']],
    ['mp3.wav', 'libmp3lame', 'riff', 'mp3', []],
    ['wma.wav', 'wmav2', 'riff', 'pcm_f32le', []],
    ['adpcm.w64', 'adpcm_ms', 'w64', 'pcm_s16le', []],
    ['ima.aiff', 'adpcm_ima_qt', 'aiff', 'pcm_s16be', []],
    ['alac.caf', 'alac', 'caf', 'alac', []],
  ]
  // Another coding among chunks that the short forms have.
  const further: readonly Form[] = [['ima.caf', 'adpcm_ima_qt', 'caf', 'pcm_s16le', []]]

  it.each(process.env.VOXMUX_SOAK ? [...forms, ...further] : forms)(
    'replaces the sound of %s (%s) and keeps every other chunk',
    async (name, encoder, form, codec, options) => {
      const [plain, path] = [folder.file(`plain-${name}`), folder.file(name)]
      await ffmpeg(...tone(3, 44_100), '-c:a', encoder, '-metadata', 'title=A title', ...options, plain)
      const more = [chunk(form, 'zzzz', Buffer.from('unknown')), chunk(form, 'PEAK', Buffer.alloc(12, 7))]
      await writeFile(path, withChunks(await readFile(plain), form, more))
      const { plan, part, verified } = await writtenFile(path)
      const { writer, census } = bytesWriting(plan)
      expect(writer).toBe('chunks')
      expect(plan.losses.map(({ what }) => what.split('/').at(-1))).toEqual(['PEAK'])
      expect(verified.output.streams[0]?.codec).toBe(codec)
      const most = codec === 'mp3' || codec === 'eac3' ? 44 : 1
      for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThanOrEqual(most)

      const [before, after] = [await chunksOf(path), await chunksOf(part)]
      const others = [...before.keys()].filter((id) => !CODING.includes(id) && id !== 'PEAK')
      expect(others).toContain('zzzz')
      for (const id of others) expect(after.get(id)?.equals(before.get(id) ?? Buffer.alloc(0)), id).toBe(true)
      expect([...after.keys()].filter((id) => !CODING.includes(id))).toEqual(others)
      // PCM needs none, but a file that states the number of its samples states the new one.
      expect(after.has('fact')).toBe(before.has('fact'))
      if (codec === 'pcm_s16le' && form !== 'w64' && form !== 'caf')
        expect(after.get('fact')?.readUInt32LE(8)).toBe(((after.get('data')?.length ?? 0) - 8) / 2)
      const named = census.flatMap(({ path: structure, fate }) =>
        fate === 'rewritten' ? structure.split('/').at(-1) : [],
      )
      for (const [id, bytes] of before) if (!after.get(id)?.equals(bytes) && id !== 'PEAK') expect(named).toContain(id)

      // Other code reads it without a complaint, as long as before.
      const decoded = await ffmpegOutput('-xerror', '-i', part, '-f', 's16le', 'pipe:1')
      expect(Math.abs(decoded.length / 2 / 44_100 - 3)).toBeLessThan(0.1)
      const { format } = await ffprobeJson(part, '-show_format')
      expect(Math.abs(Number((format as { duration: string }).duration) - 3)).toBeLessThan(0.1)
      const bytes = await readFile(part)
      if (form === 'riff') expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8)
      if (form === 'aiff') expect(bytes.readUInt32BE(4)).toBe(bytes.length - 8)
      if (form === 'w64') expect(Number(bytes.readBigUInt64LE(16))).toBe(bytes.length)
      if (form === 'rf64') expect(Number(bytes.readBigUInt64LE(20))).toBe(bytes.length - 8)
    },
  )

  it('measures again what a Broadcast WAV states of its loudness, and makes its checksum again', async () => {
    const [plain, path] = [folder.file('plain-broadcast.wav'), folder.file('broadcast.wav')]
    await ffmpeg(...tone(2), '-c:a', 'adpcm_ms', '-write_bext', '1', '-metadata', 'description=Take 3', plain)
    const input = await readFile(plain)
    const bextOf = (file: Buffer) => file.subarray(file.indexOf('bext') + 8, file.indexOf('bext') + 8 + 602)
    bextOf(input).writeUInt16LE(2, 346)
    bextOf(input).writeInt16LE(-2300, 412)
    const md5Of = (chunks: ReadonlyMap<string, Buffer>) => {
      const data = chunks.get('data') ?? Buffer.alloc(8)
      return createHash('md5')
        .update(data.subarray(8, 8 + data.readUInt32LE(4)))
        .digest()
    }
    const sum = md5Of(await chunksOf(plain))
    const claim = chunk('riff', 'C2PA', Buffer.from('a signed claim'))
    await writeFile(path, withChunks(input, 'riff', [chunk('riff', 'MD5 ', sum), claim]))
    const { plan, part } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('chunks')
    expect(plan.losses.map(({ what }) => what)).toEqual(['RIFF/WAVE/C2PA'])
    const output = await readFile(part)
    expect(bextOf(output).subarray(0, 412)).toEqual(bextOf(input).subarray(0, 412))
    expect(bextOf(output).readInt16LE(412)).not.toBe(-2300)
    expect(bextOf(output).readInt16LE(412)).toBeLessThan(-1000)
    expect(bextOf(output).readInt16LE(412)).toBeGreaterThan(-4000)
    const chunks = await chunksOf(part)
    expect(chunks.get('MD5')?.subarray(8)).toEqual(md5Of(chunks))
  })

  it('leaves a file to the next writer whose channels are mixed, but described', async () => {
    const [plain, path] = [folder.file('plain-objects.wav'), folder.file('objects.wav')]
    await ffmpeg(...tone(1, 48_000, 2), '-c:a', 'pcm_s16le', plain)
    await writeFile(path, withChunks(await readFile(plain), 'riff', [chunk('riff', 'chna', Buffer.alloc(44))]))
    const { writing } = await planOutput(await probe(path), { replaced: [0], mixedTo: new Map([[0, 1]]) })
    expect(writing.kind).toBe('remux')
    expect(writing.declined.map(({ writer, reason }) => `${writer}: ${reason}`)).toEqual([
      'pcm-in-place: audio track 0: its channels are mixed down',
      'chunks: its chunk chna describes channels that are mixed',
    ])
  })
})
