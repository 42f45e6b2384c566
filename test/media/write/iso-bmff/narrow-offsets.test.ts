import { open, stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { audioStreams } from '../../../../src/media/media-info.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { isoBmff } from '../../../../src/media/write/iso-bmff/iso-bmff.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

const GIGABYTE = 1024 ** 3

function box(type: string, ...parts: readonly (Buffer | number)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'number' ? u32(part) : part)))
  return Buffer.concat([u32(8 + body.length), Buffer.from(type, 'latin1'), body])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A table of one item, with an offset of 32 bits. */
function items(offset: number): Buffer {
  const place = Buffer.from([0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1])
  return box('meta', 0, box('hdlr', 0, 0, 0, 0, 0), box('iloc', place, offset, 11))
}

it.each([
  ['takes', 3, 'room for the new offsets'],
  ['declines', 4, 'room for the new offsets'],
])('%s a film whose items lie behind %i GB', async (answer, gigabytes, reason) => {
  const path = folder.file(`items-${gigabytes}.mp4`)
  await ffmpeg(...picture(1), ...tone(1), '-c:v', 'mpeg4', '-c:a', 'aac', path)
  const { size } = await stat(path)
  const end = gigabytes * GIGABYTE - 1000
  const file = await open(path, 'r+')
  const head = Buffer.alloc(16)
  head.writeUInt32BE(1)
  head.write('free', 4, 'latin1')
  head.writeBigUInt64BE(BigInt(end - size), 8)
  // The bytes between are a hole, which takes no room.
  await file.write(head, 0, head.length, size)
  const table = items(end - 100)
  await file.write(table, 0, table.length, end)
  await file.close()
  const media = await probe(path)
  const [input] = audioStreams(media)
  if (!input) throw new Error('no sound')
  const encoding = { codec: 'aac', encoder: 'aac', lossless: false, bitRate: 128_000, options: [] }
  const parsed = await isoBmff.parse(media)
  if (parsed === null || typeof parsed === 'string') throw new Error(`not parsed: ${parsed}`)
  const survey = isoBmff.survey(parsed, { media, tracks: [{ input, encoding, channels: 1 }] })
  expect(survey.kind).toBe(answer)
  if (survey.kind === 'declines') expect(survey.reason).toContain(reason)
})
