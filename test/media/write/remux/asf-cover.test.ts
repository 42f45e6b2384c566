import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ffmpeg, ffmpegOutput, type TestFolder, testFolder, tone } from '../../../helpers/media-factory.js'
import { writtenFile } from '../../../helpers/written-file.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

const utf16 = (text: string) => Buffer.from(`${text}\0`, 'utf16le')
const counted = (bytes: Buffer) => {
  const size = Buffer.alloc(2)
  size.writeUInt16LE(bytes.length)
  return Buffer.concat([size, bytes])
}

/** The Extended Content Description object of ASF with a cover as `WM/Picture`. */
function coverObject(jpeg: Buffer): Buffer {
  const pictureHead = Buffer.alloc(5, 3)
  pictureHead.writeUInt32LE(jpeg.length, 1)
  const picture = Buffer.concat([pictureHead, utf16('image/jpeg'), utf16('Cover'), jpeg])
  const byteArray = Buffer.from([1, 0])
  const body = Buffer.concat([Buffer.from([1, 0]), counted(utf16('WM/Picture')), byteArray, counted(picture)])
  const head = Buffer.from('40a4d0d207e3d21197f000a0c95ea850'.padEnd(48, '0'), 'hex')
  head.writeBigUInt64LE(BigInt(head.length + body.length), 16)
  return Buffer.concat([head, body])
}

it('names the cover of a WMA, which ffmpeg would write as a film of one picture', async () => {
  const [plain, path] = [folder.file('plain.wma'), folder.file('cover.wma')]
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'wmav2', plain)
  const jpeg = await ffmpegOutput('-f', 'lavfi', '-i', 'color=red:s=32x32', '-frames:v', '1', '-f', 'mjpeg', '-')
  const [bytes, cover] = [await readFile(plain), coverObject(jpeg)]
  bytes.writeBigUInt64LE(bytes.readBigUInt64LE(16) + BigInt(cover.length), 16)
  bytes.writeUInt32LE(bytes.readUInt32LE(24) + 1, 24)
  await writeFile(path, Buffer.concat([bytes.subarray(0, 30), cover, bytes.subarray(30)]))
  const { media, plan } = await writtenFile(path)
  expect(media.streams.map(({ kind }) => kind)).toContain('video')
  expect(plan.losses).toContainEqual(
    expect.objectContaining({ what: 'video stream 0 (mjpeg)', reason: '.wma cannot carry a cover picture' }),
  )
})
