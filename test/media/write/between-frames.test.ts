import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { censusFaults } from '../../../src/media/write/census.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()

const TAG = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x20', 'latin1'), Buffer.alloc(32)])

it.each([
  ['mp3', TAG, ['ID3v2 between the frames']],
  ['aac', TAG, ['ID3v2 between the frames']],
  [
    'aac',
    Buffer.concat([Buffer.from('junk'), TAG, TAG, Buffer.from('junk')]),
    ['bytes between the frames', 'ID3v2 between the frames'],
  ],
  ['mp2', TAG, ['ID3v2 between the frames']],
  ['ac3', TAG, ['ID3v2 between the frames']],
  ['eac3', TAG, ['ID3v2 between the frames']],
])('names what lies between the frames of a .%s', async (extension, others, names) => {
  const [plain, path] = [folder.file(`plain.${extension}`), folder.file(`between-${others.length}.${extension}`)]
  await ffmpeg('-y', ...tone(3, 44_100, 1), '-id3v2_version', '0', plain)
  const bytes = await readFile(plain)
  const head = bytes.readUInt16BE(0)
  let at = Math.floor(bytes.length / 2)
  while (bytes.readUInt16BE(at) !== head) at += 1
  await writeFile(path, Buffer.concat([bytes.subarray(0, at), others, bytes.subarray(at)]))
  const { plan } = await writtenFile(path)
  expect(plan.losses.map(({ what }) => what)).toEqual(names)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('frames')
  expect(censusFaults(census, (await readFile(path)).length)).toEqual([])
  expect([...census].flatMap(({ path: name, length }) => (names.includes(name) ? [length] : []))).toEqual(
    others.length === TAG.length ? [42] : [4, 42, 42, 4],
  )
})

it('keeps the bytes around the frames of an .mp2', async () => {
  const path = folder.file('around.mp2')
  await ffmpeg('-y', ...tone(3, 48_000, 2), path)
  const frames = await readFile(path)
  await writeFile(path, Buffer.concat([Buffer.alloc(100), frames, Buffer.alloc(500)]))
  const { plan, part, verified } = await writtenFile(path)
  expect(plan.losses).toEqual([])
  expect(bytesWriting(plan).census.flatMap(({ fate, length }) => (fate === 'kept' ? [length] : []))).toEqual([100, 500])
  expect(syncOffsets(verified)).toEqual([0, 0, 0])
  const made = await readFile(part)
  expect([made.subarray(0, 100), made.subarray(-500)]).toEqual([Buffer.alloc(100), Buffer.alloc(500)])
})

it.each(['ac3', 'eac3'])('names what precedes and follows the frames of an .%s', async (extension) => {
  const path = folder.file(`around.${extension}`)
  await ffmpeg('-y', ...tone(3, 48_000, 2), path)
  await writeFile(path, Buffer.concat([Buffer.alloc(100), await readFile(path), Buffer.from('junk'.repeat(20))]))
  const { plan, verified } = await writtenFile(path)
  expect(plan.losses.map(({ what }) => what)).toEqual(['bytes before the frames', 'bytes behind the frames'])
  expect(censusFaults(bytesWriting(plan).census, (await readFile(path)).length)).toEqual([])
  expect(syncOffsets(verified)).toEqual([0, 0, 0])
})

it.each(['mp3', 'aac', 'mp2'])(
  'names what precedes the frames of an .%s if a frame seems to begin there',
  async (extension) => {
    const path = folder.file(`behind-any-bytes.${extension}`)
    await ffmpeg('-y', ...tone(3, 44_100, 1), '-id3v2_version', '0', path)
    const anyBytes = createHash('shake256', { outputLength: 100_000 }).update('any bytes').digest()
    await writeFile(path, Buffer.concat([anyBytes, await readFile(path)]))
    const { plan, verified } = await writtenFile(path)
    expect(plan.losses.map(({ what }) => what)).toEqual(['bytes before the frames'])
    expect(censusFaults(bytesWriting(plan).census, (await readFile(path)).length)).toEqual([])
    for (const offset of syncOffsets(verified)) expect(offset ?? 0).toBe(0)
  },
)

it.each([
  ['mp2', 300],
  ['ac3', 300],
  // Five bytes of it are left.
  ['mp2', 1147],
] as const)('takes the rest of the last frame of an .%s without %i bytes for sound', async (extension, missing) => {
  const path = folder.file(`cut-${missing}.${extension}`)
  await ffmpeg('-y', ...tone(3, 48_000, 2), path)
  const bytes = await readFile(path)
  await writeFile(path, bytes.subarray(0, -missing))
  const { plan, part } = await writtenFile(path)
  expect(plan.losses).toEqual([])
  expect([...bytesWriting(plan).census].map(({ fate }) => fate)).toEqual(['rewritten'])
  expect((await readFile(part)).length).toBe(bytes.length)
})

it.each([1, 4, 9])('keeps %d stray bytes behind the last frame of an .aac', async (count) => {
  const path = folder.file(`stray-${count}.aac`)
  await ffmpeg('-y', ...tone(3, 44_100, 1), path)
  const stray = Buffer.from('junk junk').subarray(0, count)
  await writeFile(path, Buffer.concat([await readFile(path), stray]))
  const { plan, part, verified } = await writtenFile(path)
  expect(plan.losses).toEqual([])
  expect(bytesWriting(plan).writer).toBe('frames')
  expect(syncOffsets(verified)).toEqual([0, 0, 0])
  expect((await readFile(part)).subarray(-count)).toEqual(stray)
})
