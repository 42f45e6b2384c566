import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, testFolder } from '../../helpers/media-factory.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

const FRAME_SAMPLES = 1024
const ADTS_HEAD_BYTES = 7
/** The decoder configuration of AAC-LC, stereo at 48 kHz, in an elementary stream descriptor. */
const COOKIE = Buffer.from(
  '03808080220000000480808014401500000000000000000000000580808002' + '1190' + '068080800102',
  'hex',
)

it('keeps the chunks of a CAF with AAC, whose sound becomes ALAC', async () => {
  const folder = await testFolder()
  const [adts, path] = [folder.file('voice.aac'), folder.file('voice.caf')]
  const noise = 'anoisesrc=d=3:a=0.3:seed=7:r=48000,lowpass=3000,pan=stereo|c0=c0|c1=c0'
  await ffmpeg('-f', 'lavfi', '-i', noise, '-c:a', 'aac', adts)
  await writeFile(path, cafOf(framesOf(await readFile(adts))))
  const { plan, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('chunks')
  expect(census.filter(({ fate }) => fate === 'kept').map((entry) => entry.path)).toContain('caff/uuid')
  expect(census.filter(({ fate }) => fate === 'lost')).toEqual([])
  expect(verified.output.streams).toMatchObject([{ kind: 'audio', codec: 'alac' }])
  expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  await folder.remove()
})

it('gives a MOV with Vorbis another codec, which QuickTime can describe', async () => {
  const folder = await testFolder()
  const path = folder.file('vorbis.mov')
  await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=3:a=0.3:seed=7:r=48000,lowpass=3000', '-c:a', 'libvorbis', path)
  const { plan, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  expect(verified.output.streams).toMatchObject([{ kind: 'audio', codec: 'aac' }])
  expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  await folder.remove()
})

/** Frames of ADTS without their heads. */
function framesOf(adts: Buffer): readonly Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; at < adts.length; ) {
    const length = (adts.readUInt32BE(at + 3) >>> 13) & 0x1fff
    frames.push(adts.subarray(at + ADTS_HEAD_BYTES, at + length))
    at += length
  }
  return frames
}

/** A file as Apple's programs write it, with a chunk of their own. */
function cafOf(frames: readonly Buffer[]): Buffer {
  const description = Buffer.alloc(32)
  description.writeDoubleBE(48_000)
  description.write('aac ', 8, 'latin1')
  for (const [field, value] of [2, 0, FRAME_SAMPLES, 2, 0].entries()) description.writeUInt32BE(value, 12 + 4 * field)
  const table = Buffer.alloc(24)
  table.writeBigInt64BE(BigInt(frames.length))
  table.writeBigInt64BE(BigInt((frames.length - 1) * FRAME_SAMPLES), 8)
  table.writeInt32BE(FRAME_SAMPLES, 16)
  return Buffer.concat([
    Buffer.from('caff\0\x01\0\0', 'latin1'),
    chunk('desc', description),
    chunk('kuki', COOKIE),
    chunk('uuid', Buffer.alloc(40, 7)),
    chunk('pakt', Buffer.concat([table, ...frames.map(({ length }) => variable(length))])),
    chunk('data', Buffer.concat([Buffer.alloc(4), ...frames])),
  ])
}

function chunk(id: string, body: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.write(id, 'latin1')
  head.writeBigInt64BE(BigInt(body.length), 4)
  return Buffer.concat([head, body])
}

/** A number in groups of seven bits. */
function variable(value: number): Buffer {
  return Buffer.from(value < 128 ? [value] : [128 | (value >> 7), value & 127])
}
