import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { cutVoice } from '../../../src/media/cut/cut.js'
import type { AudioStreamInfo } from '../../../src/media/media-info.js'
import { decodePcm } from '../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../src/media/probe/probe.js'
import { copyExcerpt } from '../../../src/media/write/copy-excerpt.js'
import { packetReading, readPacketFacts } from '../../../src/media/write/packet-facts.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, picture } from '../../helpers/media-factory.js'
import { collectPcm } from '../../helpers/sound/pcm-buffers.js'
import { audioPackets } from '../../helpers/spliced-file.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const FRAMES = 500
const FRAME_SEC = 0.02

const folder = folderOfTests()

/** Frames of AMR that hold noise; every decoder makes the same sound of the same bits. */
function noise(toc: number, frameBytes: number): Buffer {
  let state = 1
  const byte = (_: unknown, at: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return at === 0 ? toc : state >>> 24
  }
  const frame = () => Buffer.from(Array.from({ length: frameBytes }, byte))
  return Buffer.concat(Array.from({ length: FRAMES }, frame))
}

/** A movie of AMR as ffmpeg writes it, with a frame in each sample. */
async function single(name: string, magic: string, frames: Buffer, options: readonly string[] = []): Promise<string> {
  const [raw, path] = [folder.file(`${name}.amr`), folder.file(name)]
  await writeFile(raw, Buffer.concat([Buffer.from(magic), frames]))
  await ffmpeg('-i', raw, '-c', 'copy', ...options, path)
  return path
}

/** The same movie as telephones write it: its bytes, with tables that put several frames into a sample. */
async function packed(path: string, perSample: number): Promise<string> {
  const bytes = await readFile(path)
  const tables = bytes.indexOf('soun')
  const change = (box: string, field: number, factor: number) => {
    const place = bytes.indexOf(box, tables) + 4 + field
    bytes.writeUInt32BE(bytes.readUInt32BE(place) * factor, place)
  }
  change('stts', 8, 1 / perSample)
  change('stts', 12, perSample)
  change('stsz', 4, perSample)
  change('stsz', 8, 1 / perSample)
  change('stsc', 12, 1 / perSample)
  const made = path.replace('.', '-packed.')
  await writeFile(made, bytes)
  return made
}

const NARROW = ['#!AMR\n', noise(0x24, 20)] as const

it.each([
  ['narrow.3gp', ...NARROW, [], 5],
  ['wide.3gp', '#!AMR-WB\n', noise(0x14, 33), [], 10],
  ['early.mov', '#!AMR\n', noise(0x3c, 32), ['-movflags', 'faststart'], 10],
] as const)('decodes every frame of %s if a sample holds several', async (name, magic, frames, flags, perSample) => {
  const path = await single(name, magic, frames, flags)
  const [plain, media] = [await probe(path), await probe(await packed(path, perSample))]
  expect(plain.streams[0]).not.toHaveProperty('packsFrames')
  expect(media.streams[0]).toHaveProperty('packsFrames', true)
  const wanted = await collectPcm(decodePcm(plain, { audioIndex: 0 }))
  expect((await collectPcm(decodePcm(media, { audioIndex: 0 }))).equals(wanted)).toBe(true)
  const late = { audioIndex: 0, range: { startSample: 20_000, endSample: 30_000 }, startsLate: true }
  const part = await collectPcm(decodePcm(media, late))
  const bytes = wanted.length / (FRAMES * FRAME_SEC * (plain.streams[0] as AudioStreamInfo).sampleRate)
  expect(part.equals(wanted.subarray(20_000 * bytes, 30_000 * bytes))).toBe(true)
})

it('cuts the voice of a film from single frames, and reads the packets beside it from the film', async () => {
  const film = folder.file('film.3gp')
  // A film of one picture has its sound in one piece.
  const still = picture(10, '176x144', 0.1)
  await ffmpeg(...still, '-i', await single('sound.3gp', ...NARROW), '-c:v', 'mpeg4', '-c:a', 'copy', film)
  const path = await packed(film, 5)
  const plan = await planOutput(await probe(path), { replaced: [0] })
  const packets = packetReading(plan)
  const request = {
    ...{ audioIndex: 0, channels: { kind: 'all' as const }, range: { startSample: 0, endSample: null } },
    targetWithoutExtension: folder.file('voice'),
  }
  const [cut] = await cutVoice(plan.media, [request], { beside: packets })
  expect(cut?.sampleCount).toBe(FRAMES * 160)
  expect(packets?.facts()).toEqual(await readPacketFacts(plan, undefined))
})

it('copies an excerpt of a film with single frames, as sound alone', async () => {
  const [film, alone] = [folder.file('excerpted.3gp'), await single('alone.3gp', ...NARROW)]
  await ffmpeg(...picture(10, '176x144', 0.1), '-i', alone, '-c:v', 'mpeg4', '-c:a', 'copy', film)
  const media = await probe(await packed(film, 5))
  const path = await copyExcerpt(media, { startSec: 2, lengthSec: 4, folder: folder.path })
  const [all, some] = await Promise.all([audioPackets(alone), audioPackets(path)])
  expect(some.map(({ hash }) => hash)).toEqual(all.slice(100, 300).map(({ hash }) => hash))
})
