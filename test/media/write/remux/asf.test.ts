import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { ffmpeg, ffmpegOutput, tone } from '../../../helpers/media-factory.js'
import { collectPcm } from '../../../helpers/sound/pcm-buffers.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()

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

it('keeps the id and the creation date of a WMA', async () => {
  const path = folder.file('dated.wma')
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', 'wmav2', path)
  const bodyOf = (file: Buffer, guid: string) => file.subarray(file.indexOf(guid, 0, 'hex') + 24)
  const identityOf = (file: Buffer) => {
    const properties = bodyOf(file, 'a1dcab8c47a9cf118ee400c00c205365')
    const data = bodyOf(file, '3626b2758e66cf11a6d900aa0062ce6c')
    return { id: properties.subarray(0, 16), dataId: data.subarray(0, 16), date: properties.subarray(24, 32) }
  }
  const bytes = await readFile(path)
  const { id, dataId, date } = identityOf(bytes)
  id.fill(1)
  dataId.fill(1)
  date.writeBigUInt64LE(133_000_000_000_000_000n)
  await writeFile(path, bytes)
  const { part } = await writtenFile(path)
  expect(identityOf(await readFile(part))).toEqual({ id, dataId, date })
})

it.each([22_050, 44_100])('names the sound at %s Hz that the priming of WMA replaces', async (sampleRate) => {
  const path = folder.file(`begins-${sampleRate}.wav`)
  await ffmpeg('-f', 'lavfi', '-i', `anoisesrc=d=1:r=${sampleRate}:seed=3:a=0.3`, '-c:a', 'pcm_s16le', path)
  const { plan, part } = await writtenFile(path, { container: 'wma', audioCodec: 'wmav2' })
  const sound = await collectPcm(decodePcm(await probe(part), { audioIndex: 0, sample: 's16' }))
  const values = new Int16Array(new Uint8Array(sound).buffer)
  const silentSec = values.findIndex((value) => value !== 0) / sampleRate
  expect(plan.losses.map(({ what }) => what)).toEqual(['first 0.093 s of sound of audio track 0'])
  expect(silentSec).toBeCloseTo(0.093, 2)
  const again = await writtenFile(part)
  expect(again.plan.losses).toEqual([])
})
