import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import type { PrecheckError } from '../../../src/core/errors.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()
beforeAll(async () => {
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'flac', folder.file('plain.flac'))
})

/** A FLAC whose comments all have a name of their own. */
async function withComments(count: number): Promise<string> {
  const plain = await readFile(folder.file('plain.flac'))
  let frames = 4
  for (let isLast = false; !isLast; frames += 4 + plain.readUIntBE(frames + 1, 3)) {
    isLast = ((plain[frames] ?? 0) & 0x80) !== 0
  }
  const number = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return bytes
  }
  const comments = Array.from({ length: count }, (_, place) => Buffer.from(`K${place}=v`))
  const list = Buffer.concat([
    number(0),
    number(count),
    ...comments.flatMap((comment) => [number(comment.length), comment]),
  ])
  const head = Buffer.alloc(4)
  head.writeUInt32BE(list.length + ((0x84 << 24) >>> 0))
  const path = folder.file(`${count}.flac`)
  await writeFile(path, Buffer.concat([plain.subarray(0, 42), head, list, plain.subarray(frames)]))
  return path
}

it('reads a file of 5000 comments', async () => {
  const { tags } = await probe(await withComments(5000))
  expect(tags).toMatchObject({ K0: 'v', K4999: 'v' })
})

// ffprobe works for 0.4 s on the first, and for 9 s on the second.
const TOO_MANY = process.env.VOXMUX_SOAK ? [12_000, 60_000] : [12_000]

it.each(TOO_MANY)('refuses a file of %i comments, with which ffmpeg works for too long', async (count) => {
  const refused = { code: 'ERR_UNREADABLE', errorCode: -2 }
  const error: unknown = await probe(await withComments(count)).catch((error: unknown) => error)
  expect(error).toMatchObject(refused)
  expect((error as PrecheckError).remedies[0]).toMatch(/^Remove most of its tags/)
})
