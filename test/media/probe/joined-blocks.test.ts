import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

/** The frames of an ADTS file. */
function framesOf(bytes: Buffer): readonly Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; at + 7 <= bytes.length; at += frames.at(-1)?.length ?? 1) {
    frames.push(bytes.subarray(at, at + ((bytes.readUInt32BE(at + 3) >>> 13) & 0x1fff)))
  }
  return frames
}

/** Two frames as one with two blocks. */
function joined(one: Buffer, other: Buffer): Buffer {
  const frame = Buffer.concat([one, other.subarray(7)])
  frame[6] = ((frame[6] ?? 0) & 0xfc) | 1
  frame.writeUIntBE((frame.readUIntBE(3, 3) & ~(0x1fff << 5)) | (frame.length << 5), 3, 3)
  return frame
}

it('refuses ADTS frames of several blocks, behind a tag too, because ffmpeg reads half of their times', async () => {
  const [plain, path, tagged] = ['plain', 'joined', 'tagged'].map((name) => folder.file(`${name}.aac`)) as [
    string,
    string,
    string,
  ]
  await ffmpeg(...tone(3, 44_100, 1), '-c:a', 'aac', '-f', 'adts', plain)
  const frames = framesOf(await readFile(plain))
  const pairs = frames.flatMap((frame, place) => (place % 2 === 1 ? [joined(frames[place - 1] as Buffer, frame)] : []))
  await writeFile(path, Buffer.concat(pairs))
  await writeFile(tagged, Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x0a', 'latin1'), Buffer.alloc(10), ...pairs]))
  expect(pairs.length).toBeGreaterThan(50)
  await expect(probe(plain)).resolves.toMatchObject({ container: 'aac' })
  for (const file of [path, tagged]) {
    await expect(probe(file)).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_CODEC', errorCode: -7 })
  }
})
