import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { audioStreams } from '../../../src/media/index.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, testFolder } from '../../helpers/media-factory.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

const NOISE = 'anoisesrc=d=3:a=0.3:seed=7:r=48000,lowpass=3000'
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
  await ffmpeg('-f', 'lavfi', '-i', `${NOISE},pan=stereo|c0=c0|c1=c0`, '-c:a', 'aac', adts)
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

it('gives a MOV with Vorbis the set-up header of its new sound', async () => {
  const folder = await testFolder()
  const path = folder.file('vorbis.mov')
  await ffmpeg('-f', 'lavfi', '-i', NOISE, '-c:a', 'libvorbis', path)
  expect(await written(path)).toEqual({ writer: 'iso-bmff', codec: 'vorbis', offsets: [0, 0, 0] })
  await folder.remove()
})

it.each([
  // ffmpeg writes MPEG layer 2 there so that it is read as layer 3.
  { made: 'mov', codec: 'mp2', encoder: 'mp2', brand: 'isom', as: 'mp4', becomes: 'aac' },
  // Its QuickTime muxer refuses these.
  { made: 'mp4', codec: 'flac', encoder: 'flac', brand: 'qt  ', as: 'mov', becomes: 'alac' },
  { made: 'mp4', codec: 'opus', encoder: 'libopus', brand: 'qt  ', as: 'mov', becomes: 'aac' },
])('gives $codec in .$as another codec, because ffmpeg cannot write it there', async ({ made, as, ...row }) => {
  const folder = await testFolder()
  const [first, path] = [folder.file(`first.${made}`), folder.file(`renamed.${as}`)]
  await ffmpeg('-f', 'lavfi', '-i', NOISE, '-c:a', row.encoder, '-strict', '-2', first)
  await writeFile(path, branded(await readFile(first), row.brand))
  expect(audioStreams(await probe(path))[0]).toMatchObject({ codec: row.codec })
  expect(await written(path)).toEqual({ writer: 'iso-bmff', codec: row.becomes, offsets: [0, 0, 0] })
  await folder.remove()
})

it.each(['wav', 'w64'])('keeps 64-bit integers in .%s, which ffmpeg cannot write without a container', async (name) => {
  const folder = await testFolder()
  const path = folder.file(`wide.${name}`)
  await ffmpeg('-f', 'lavfi', '-i', NOISE, '-c:a', 'pcm_s64le', path)
  expect(await written(path)).toEqual({ writer: 'chunks', codec: 'pcm_s64le', offsets: [0, 0, 0] })
  await folder.remove()
})

async function written(path: string) {
  const { plan, verified } = await writtenFile(path)
  const [sound] = audioStreams(verified.output)
  const offsets = verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)
  return { writer: bytesWriting(plan).writer, codec: sound?.codec, offsets }
}

/** The file with another brand, and with no compatible one. */
function branded(bytes: Buffer, brand: string): Buffer {
  for (let at = 8; at < bytes.readUInt32BE(0); at += 4) if (at !== 12) bytes.write(brand, at, 'latin1')
  return bytes
}

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
