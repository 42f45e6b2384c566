import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../helpers/written-file.js'

const LEVELS = 30_000

const folder = folderOfTests()

/** Heads in one another. @param head of a structure whose content has so many bytes */
function nested(head: (bodyBytes: number) => Buffer): Buffer {
  const heads: Buffer[] = []
  let bodyBytes = 0
  for (let level = 0; level < LEVELS; level++) {
    heads.unshift(head(bodyBytes))
    bodyBytes += heads[0]?.length ?? 0
  }
  return Buffer.concat(heads)
}

it('takes a Matroska whose tags are nested deeper than any program writes', async () => {
  const [plain, path] = [folder.file('plain.mka'), folder.file('deep.mka')]
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'flac', plain)
  const bytes = await readFile(plain)
  const sized = (id: string, size: number) => {
    const head = Buffer.from(`${id}0100000000000000`, 'hex')
    head.writeUInt32BE(size, head.length - 4)
    return head
  }
  const tags = nested((size) => sized('67c8', size))
  const added = Buffer.concat([sized('1254c367', tags.length + 10), sized('7373', tags.length), tags])
  const sizeAt = bytes.indexOf('18538067', 0, 'hex') + 4
  bytes.writeBigUInt64BE(bytes.readBigUInt64BE(sizeAt) + BigInt(added.length), sizeAt)
  await writeFile(path, Buffer.concat([bytes, added]))
  const { plan } = await writtenFile(path)
  expect(plan.losses).toContainEqual(expect.objectContaining({ reason: expect.stringContaining('cannot list them') }))
})

it('takes Windows Media whose objects are nested deeper than any program writes', async () => {
  const [plain, path] = [folder.file('plain.wma'), folder.file('deep.wma')]
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'wmav2', plain)
  const bytes = await readFile(plain)
  const objects = nested((size) => {
    const head = Buffer.from('b503bf5f2ea9cf118ee300c00c205365'.padEnd(92, '0'), 'hex')
    head.writeBigUInt64LE(BigInt(head.length + size), 16)
    return head
  })
  const headerEnd = Number(bytes.readBigUInt64LE(16))
  bytes.writeBigUInt64LE(BigInt(headerEnd + objects.length), 16)
  bytes.writeUInt32LE(bytes.readUInt32LE(24) + 1, 24)
  await writeFile(path, Buffer.concat([bytes.subarray(0, headerEnd), objects, bytes.subarray(headerEnd)]))
  const { plan } = await writtenFile(path)
  expect(plan.losses).toContainEqual(expect.objectContaining({ reason: expect.stringContaining('cannot list them') }))
})
