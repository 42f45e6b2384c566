import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'
import { checksumOf } from '../checksum.js'

const folder = folderOfTests()

it('keeps an ID3 tag of 200 000 frames', async () => {
  const [plain, path] = [folder.file('plain.mp3'), folder.file('frames.mp3')]
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'libmp3lame', '-id3v2_version', '0', plain)
  const frames = Buffer.from('XABC\0\0\0\x01\0\0\0'.repeat(200_000), 'latin1')
  const size = [21, 14, 7, 0].map((bits) => (frames.length >> bits) & 0x7f)
  const tag = Buffer.concat([Buffer.from('ID3\x03\0\0', 'latin1'), Buffer.from(size), frames])
  await writeFile(path, Buffer.concat([tag, await readFile(plain)]))
  const { plan, part } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('frames')
  expect((await readFile(part)).subarray(0, tag.length).equals(tag)).toBe(true)
})

/** A page of Ogg. @param lacing lengths of its segments */
function page(flags: number, granule: bigint, sequence: number, lacing: Buffer, body: Buffer): Buffer {
  const head = Buffer.alloc(27)
  head.write('OggS')
  head[5] = flags
  head.writeBigInt64LE(granule, 6)
  head.writeUInt32LE(7, 14)
  head.writeUInt32LE(sequence, 18)
  head[26] = lacing.length
  const bytes = Buffer.concat([head, lacing, body])
  bytes.writeUInt32LE(checksumOf(bytes, 0), 22)
  return bytes
}

it('reads the headers of an Ogg once, in however many pages they are', async () => {
  const [plain, path] = [folder.file('plain.opus'), folder.file('pages.opus')]
  await ffmpeg(...tone(1, 48_000, 1), '-c:a', 'libopus', plain)
  const bytes = await readFile(plain)
  const old: { flags: number; granule: bigint; lacing: Buffer; body: Buffer }[] = []
  for (let at = 0; at < bytes.length; ) {
    const bodyAt = at + 27 + (bytes[at + 26] ?? 0)
    const lacing = bytes.subarray(at + 27, bodyAt)
    const end = bodyAt + lacing.reduce((sum, length) => sum + length, 0)
    old.push({
      flags: bytes[at + 5] ?? 0,
      granule: bytes.readBigInt64LE(at + 6),
      lacing,
      body: bytes.subarray(bodyAt, end),
    })
    at = end
  }
  // 300 000 comments, each with a name of its own, in pages of one segment.
  const comments = Array.from({ length: 300_000 }, (_, nth) =>
    Buffer.from(`\x0e\0\0\0n${String(nth).padStart(12, '0')}=`),
  )
  const list = Buffer.concat([Buffer.from('OpusTags\0\0\0\0\xe0\x93\x04\0', 'latin1'), ...comments])
  const segments = Array.from({ length: Math.floor(list.length / 255) + 1 }, (_, nth) =>
    list.subarray(255 * nth, 255 * (nth + 1)),
  )
  const [first, , ...sound] = old
  const pages = [
    ...(first ? [first] : []),
    ...segments.map((body, nth) => {
      const isLast = nth === segments.length - 1
      return { flags: nth > 0 ? 1 : 0, granule: isLast ? 0n : -1n, lacing: Buffer.from([body.length]), body }
    }),
    ...sound,
  ]
  await writeFile(
    path,
    Buffer.concat(pages.map(({ flags, granule, lacing, body }, nth) => page(flags, granule, nth, lacing, body))),
  )
  const { plan } = await writtenFile(path)
  expect([bytesWriting(plan).writer, plan.losses]).toEqual(['frames', []])
}, 120_000)
