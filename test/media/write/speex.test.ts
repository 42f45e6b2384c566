import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'
import { checksumOf } from '../checksum.js'

const folder = folderOfTests()

it.each([
  // One page of Ogg holds all of the first.
  [8000, 1, 0.9, 'spx'],
  [8000, 1, 3, 'spx'],
  [16_000, 2, 3, 'spx'],
  [32_000, 1, 3, 'spx'],
  [16_000, 1, 1, 'mka'],
])('keeps Speex of %i Hz and %i channels in place, with its comment', async (rate, channels, sec, container) => {
  const path = folder.file(`speech-${rate}-${sec}.${container}`)
  await ffmpeg(...tone(sec, rate, channels), '-c:a', 'libspeex', '-metadata', 'title=A title', path)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe(container === 'spx' ? 'frames' : 'matroska')
  expect(plan.streams.map((stream) => (stream.fate === 'replaced' ? stream.encoding.codec : null))).toEqual(['speex'])
  expect(plan.losses).toEqual([])
  expect((await readFile(part)).includes('A title')).toBe(true)
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(rate / 1000)
})

it.each([8000, 16_000])(
  'keeps Speex of %i Hz in place beside a Skeleton, which states a start of zero',
  async (rate) => {
    const [plain, path] = [folder.file('alone.spx'), folder.file(`skeleton-${rate}.ogg`)]
    await ffmpeg(...tone(3, rate, 1), '-c:a', 'libspeex', plain)
    const bytes = await readFile(plain)
    const second = bytes.indexOf('OggS', 4)
    const bone = Buffer.alloc(52)
    bone.write('fisbone\0', 'latin1')
    bone.writeUInt32LE(44, 8)
    bone.writeUInt32LE(bytes.readUInt32LE(14), 12)
    const head = Buffer.alloc(64)
    head.write('fishead\0\x03', 'latin1')
    const skeleton = [page(2, 0, head), page(0, 1, bone), page(4, 2, Buffer.alloc(0))]
    const [fishHead, ...others] = skeleton as [Buffer, ...Buffer[]]
    await writeFile(path, Buffer.concat([fishHead, bytes.subarray(0, second), ...others, bytes.subarray(second)]))
    const { plan, part, verified } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('frames')
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(rate / 1000)
    const [one, other] = [await lastGranule(path), await lastGranule(part)]
    expect(Number(other - one)).toBeGreaterThanOrEqual(0)
  },
)

async function lastGranule(path: string): Promise<bigint> {
  const bytes = await readFile(path)
  return bytes.readBigUInt64LE(bytes.lastIndexOf('OggS') + 6)
}

/** A page of Ogg with one packet. */
function page(flags: number, number: number, body: Buffer): Buffer {
  const head = Buffer.alloc(28)
  head.write('OggS', 'latin1')
  head[5] = flags
  head.writeUInt32LE(7, 14)
  head.writeUInt32LE(number, 18)
  head[26] = 1
  head[27] = body.length
  return withChecksum(Buffer.concat([head, body]), 0)
}

it.each([48_000, 11_025])('refuses Speex of %i Hz, which no encoder of ffmpeg writes', async (rate) => {
  const [plain, path] = [folder.file('plain.spx'), folder.file(`strange-${rate}.spx`)]
  await ffmpeg(...tone(3, 32_000, 1), '-c:a', 'libspeex', plain)
  const bytes = await readFile(plain)
  bytes.writeUInt32LE(rate, bytes.indexOf('Speex   ') + 36)
  await writeFile(path, withChecksum(bytes, 0))
  await expect(probe(path).then((media) => planOutput(media, { replaced: [0] }))).rejects.toMatchObject({
    code: 'ERR_UNSUPPORTED_CODEC',
    errorCode: -7,
    exitCode: 5,
    remedies: [expect.stringContaining('--output-type flac')],
  })
})

it('writes Vorbis instead of Speex that begins at zero and has a rate of no encoder', async () => {
  const [plain, path] = [folder.file('plain.spx'), folder.file('strange.ogg')]
  await ffmpeg(...tone(3, 32_000, 1), '-c:a', 'libspeex', plain)
  const bytes = await readFile(plain)
  bytes.writeUInt32LE(48_000, bytes.indexOf('Speex   ') + 36)
  withChecksum(bytes, 0)
  // GStreamer counts the samples of the priming, so that the sound begins at zero.
  const early = Math.round(-48_000 * (await startOf(path, bytes)))
  for (let page = bytes.indexOf('OggS'); page >= 0; page = bytes.indexOf('OggS', page + 4)) {
    const granule = bytes.readBigUInt64LE(page + 6)
    if (granule > 0n) bytes.writeBigUInt64LE(granule + BigInt(early), page + 6)
    withChecksum(bytes, page)
  }
  await writeFile(path, bytes)
  const { media, plan, verified } = await writtenFile(path)
  expect(media.startSec).toBe(0)
  expect(plan.notes).toContain('Audio track 0: speex becomes vorbis.')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(48)
})

async function startOf(path: string, bytes: Buffer): Promise<number> {
  await writeFile(path, bytes)
  return (await probe(path)).startSec
}

/** The Ogg with the right checksum in one of its pages. */
function withChecksum(bytes: Buffer, page: number): Buffer {
  const next = bytes.indexOf('OggS', page + 4)
  bytes.writeUInt32LE(0, page + 22)
  bytes.writeUInt32LE(checksumOf(bytes.subarray(page, next < 0 ? bytes.length : next), 0), page + 22)
  return bytes
}
