import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { uint32BE } from '../../../../src/media/number-bytes.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { verifyMux } from '../../../../src/media/verify/verify-mux.js'
import { copyExcerpt } from '../../../../src/media/write/copy-excerpt.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { box } from '../../movie-boxes.js'

const folder = folderOfTests()

/** A film whose picture is encrypted and whose sound is clear, in several fragments. */
async function protectedFilm(name: string): Promise<string> {
  const path = folder.file(name)
  const flags = ['-g', '5', '-movflags', 'frag_keyframe+empty_moov+default_base_moof+skip_trailer']
  await ffmpeg(...picture(3, '64x48', 5), ...tone(3, 48_000, 1), '-c:v', 'mpeg4', '-c:a', 'aac', ...flags, path)
  const film = await readFile(path)
  const described = within(film, ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'], encryptedEntry)
  await writeFile(
    path,
    within(described, ['moof'], (moof) => encryptedFragment(moof, 0)),
  )
  return path
}

/** Makes each box at the end of a path again. */
function within(bytes: Buffer, [type, ...rest]: readonly string[], make: (body: Buffer) => Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at + 8 <= bytes.length; at += bytes.readUInt32BE(at)) {
    const whole = bytes.subarray(at, at + bytes.readUInt32BE(at))
    const own = whole.subarray(8)
    const isWanted = whole.toString('latin1', 4, 8) === type
    parts.push(isWanted ? box(type, rest.length === 0 ? make(own) : within(own, rest, make)) : whole)
  }
  return Buffer.concat(parts)
}

/** Common Encryption (ISO/IEC 23001-7) of pictures; the entry of sound stays. */
function encryptedEntry(stsd: Buffer): Buffer {
  const [head, entry] = [stsd.subarray(0, 8), stsd.subarray(8)]
  if (entry.toString('latin1', 4, 8) !== 'mp4v') return stsd
  const scheme = box('schm', Buffer.concat([uint32BE(0), Buffer.from('cenc'), uint32BE(0x1_0000)]))
  const key = box('schi', box('tenc', Buffer.concat([uint32BE(0, 0x108), Buffer.alloc(16, 7)])))
  const format = box('frma', Buffer.from('mp4v'))
  return Buffer.concat([
    head,
    box('encv', Buffer.concat([entry.subarray(8), box('sinf', Buffer.concat([format, scheme, key]))])),
  ])
}

/** Gives each packet of a track an initialization vector, and moves the packets by the new boxes. */
function encryptedFragment(moof: Buffer, track: number): Buffer {
  const trun = moof.indexOf('trun')
  const count = moof.readUInt32BE((track === 0 ? trun : moof.indexOf('trun', trun + 4)) + 8)
  const vectors = box('senc', Buffer.concat([uint32BE(0, count), Buffer.alloc(8 * count, 1)]))
  const sizes = box('saiz', Buffer.concat([uint32BE(0), Buffer.from([8]), uint32BE(count)]))
  let place = 0
  const made = within(moof, ['traf'], (traf) => {
    const added = place === track ? [sizes, box('saio', uint32BE(0, 1, 0)), vectors] : []
    place += 1
    return Buffer.concat([traf, ...added])
  })
  // Offsets count from the first byte of the `moof`.
  const header = 8
  made.writeUInt32BE(header + made.indexOf('senc') + 12, made.indexOf('saio') + 12)
  for (let at = made.indexOf('trun'); at >= 0; at = made.indexOf('trun', at + 4)) {
    made.writeInt32BE(made.readInt32BE(at + 12) + made.length - moof.length, at + 12)
  }
  return made
}

it('keeps an encrypted picture beside clear sound, whose packets ffmpeg does not read to the end', async () => {
  const path = await protectedFilm('protected.mp4')
  const { media, plan, part, result, verified } = await writtenFile(path)
  expect(media.streams).toMatchObject([{ kind: 'video', isEncrypted: true }, { kind: 'audio' }])
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  expect(verified.streams.map(({ fate, packetHash }) => [fate, packetHash !== null])).toEqual([
    ['copied', false],
    ['replaced', false],
  ])
  const [before, after] = [await readFile(path), await readFile(part)]
  for (let at = before.indexOf('senc'); at >= 0; at = before.indexOf('senc', at + 4)) {
    expect(after.includes(before.subarray(at, at + 52))).toBe(true)
  }
  const offsetAt = after.indexOf('saio') + 12
  after.writeUInt32BE(after.readUInt32BE(offsetAt) - 1, offsetAt)
  await writeFile(part, after)
  const again = verifyMux(plan, result, part, { level: 'fast' })
  await expect(again).rejects.toThrow('the places in saio of track 1')
})

it('refuses an encrypted picture that ffmpeg would copy without its key', async () => {
  const media = await probe(await protectedFilm('copied.mp4'))
  await expect(planOutput(media, { replaced: [0], container: 'mkv' })).rejects.toMatchObject({
    code: 'ERR_TRACK_ENCRYPTED',
    exitCode: 5,
  })
})

it('copies an excerpt of the clear sound alone', async () => {
  const media = await probe(await protectedFilm('sampled.mp4'))
  const excerpt = await copyExcerpt(media, { startSec: 0, lengthSec: 1, folder: folder.path })
  expect((await probe(excerpt)).streams).toMatchObject([{ kind: 'audio' }])
})

it('replaces sound that was decrypted, and leaves out how its old packets were encrypted', async () => {
  const path = folder.file('decrypted.mp4')
  const flags = ['-g', '5', '-movflags', 'frag_keyframe+empty_moov+default_base_moof+skip_trailer']
  await ffmpeg(...picture(3, '64x48', 5), ...tone(3, 48_000, 1), '-c:v', 'mpeg4', '-c:a', 'aac', ...flags, path)
  await writeFile(
    path,
    within(await readFile(path), ['moof'], (moof) => encryptedFragment(moof, 1)),
  )
  const { plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('iso-bmff')
  expect([...census].find(({ path }) => path === 'moof/traf/senc')).toMatchObject({
    fate: 'rewritten',
    reason: 'states the encryption of the old packets',
  })
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const after = await readFile(part)
  expect(['senc', 'saiz', 'saio'].map((type) => after.includes(type))).toEqual([false, false, false])
})
