import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { type AudioStreamInfo, audioStreams } from '../../../../src/media/media-info.js'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { PCM_KINDS } from '../../../../src/media/write/pes/pcm-kinds.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import { writeOutput } from '../../../../src/media/write/write-output.js'
import { ffmpeg, ffmpegOutput, picture } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { changedPackets, packetsOf } from '../ps/read-program.js'
import { readPackets } from '../ts/read-transport.js'

const folder = folderOfTests()

/** Another sweep in each channel. */
function sweeps(channels: number, rate = 48_000): readonly string[] {
  const each = Array.from({ length: channels }, (_, place) => `0.4*sin(2*PI*t*(${200 + 90 * place}+150*t))`)
  return ['-f', 'lavfi', '-i', `aevalsrc=${each.join('|')}:s=${rate}:d=1`]
}

async function film(name: string, sound: readonly string[], ...options: readonly string[]): Promise<string> {
  const path = folder.file(name)
  await ffmpeg(...picture(1), ...sound, '-c:v', 'mpeg2video', '-strict', '-2', ...options, path)
  return path
}

const bluRay = (layout: string, format: string) => [
  ...['-c:a', 'pcm_bluray', '-af', `aformat=channel_layouts=${layout}`, '-sample_fmt', format],
]
const broadcast = (bits: number) => [
  '-c:a',
  's302m',
  '-sample_fmt',
  bits === 16 ? 's16' : 's32',
  '-bits_per_raw_sample',
  String(bits),
]
const dvd = (format: string) => ['-c:a', 'pcm_dvd', '-sample_fmt', format, '-f', 'vob']

/** Makes the sound as it was, so that the output has to be the input. */
async function writtenAgain(path: string) {
  const media = await probe(path)
  const plan = await planOutput(media, { replaced: [0] })
  const part = `${path}.part`
  await writeOutput(plan, new Map([[0, decodePcm(media, { audioIndex: 0 })]]), part)
  return { plan, part }
}

/** Samples as ffmpeg decodes them, as integers of 32 bits. @param filters keep the times, or leave them out */
async function samplesOf(path: string, ...filters: readonly string[]): Promise<Int32Array> {
  const bytes = await ffmpegOutput('-i', path, '-map', '0:a', ...filters, '-c:a', 'pcm_s32le', '-f', 's32le', '-')
  return new Int32Array(new Uint8Array(bytes).buffer)
}

it.each([
  ['PCM of a camera', 'camera.m2ts', sweeps(2), bluRay('stereo', 's16'), 'transport'],
  ['one channel', 'mono.m2ts', sweeps(1), bluRay('mono', 's32'), 'transport'],
  ['three channels', 'three.m2ts', sweeps(3), bluRay('3.0', 's16'), 'transport'],
  ['four channels', 'four.m2ts', sweeps(4), bluRay('quad(side)', 's32'), 'transport'],
  ['5.0', '50.m2ts', sweeps(5), bluRay('5.0(side)', 's16'), 'transport'],
  ['5.1 of a Blu-ray', '51.m2ts', sweeps(6), bluRay('5.1(side)', 's32'), 'transport'],
  ['7.0 of a Blu-ray', '70.m2ts', sweeps(7), bluRay('7.0', 's32'), 'transport'],
  ['7.1 of a Blu-ray', '71.m2ts', sweeps(8), bluRay('7.1', 's16'), 'transport'],
  ['96 kHz', '96.m2ts', sweeps(2, 96_000), bluRay('stereo', 's32'), 'transport'],
  [
    'PCM that begins late',
    'late.m2ts',
    sweeps(2),
    ['-af', 'asetpts=PTS+0.7/TB', ...bluRay('stereo', 's16').slice(0, 2)],
    'transport',
  ],
  ['SMPTE 302M of 16 bits', '16.ts', sweeps(2), broadcast(16), 'transport'],
  ['SMPTE 302M of 20 bits', '20.ts', sweeps(4), broadcast(20), 'transport'],
  ['SMPTE 302M of 24 bits', '24.ts', sweeps(8), broadcast(24), 'transport'],
  ['PCM of a DVD', 'dvd.vob', sweeps(2), dvd('s16'), 'program'],
  ['PCM of a DVD in six channels', 'dvd6.vob', sweeps(6), dvd('s16'), 'program'],
  ['PCM of a DVD with 24 bits', 'dvd24.vob', sweeps(2), dvd('s32'), 'program'],
  ['PCM of a DVD with 24 bits in one channel', 'dvd1.vob', sweeps(1), dvd('s32'), 'program'],
  ['PCM of a DVD with 24 bits in five channels', 'dvd5.vob', sweeps(5), dvd('s32'), 'program'],
  ['PCM of a DVD with 24 bits and 96 kHz', 'dvd96.vob', sweeps(2, 96_000), dvd('s32'), 'program'],
] as const)('writes %s as it was, and new samples in their places', async (_name, name, sound, options, writer) => {
  const path = await film(name, sound, ...options)
  const { plan, part } = await writtenAgain(path)
  expect(bytesWriting(plan)).toMatchObject({ writer })
  expect(plan.losses).toEqual([])
  const input = await readFile(path)
  expect((await readFile(part)).equals(input)).toBe(true)
  const { media, verified, part: halved } = await writtenFile(path)
  expect(syncOffsets(verified).every((offset) => (offset ?? 0) === 0)).toBe(true)
  const { bitsPerSample, sampleFormat } = audioStreams(media)[0] as AudioStreamInfo
  const [step, unit] = [sampleFormat === 's16' ? 2 ** 16 : 1, 2 ** (32 - (bitsPerSample ?? 16))]
  const half = (await samplesOf(path)).map((value) => Math.floor((step * Math.trunc(value / step / 2)) / unit) * unit)
  const made = await samplesOf(halved)
  expect(Buffer.from(made.buffer).equals(Buffer.from(half.buffer))).toBe(true)
})

it('keeps the bits of status beside the samples of SMPTE 302M', () => {
  for (const [code, halves] of [
    [0, 4],
    [1, 5],
    [2, 6],
  ] as const) {
    const form = PCM_KINDS.s302m?.formOf((code << 4) | 0x4000)
    const block = Buffer.alloc(form?.blockBytes ?? 0, 0xff)
    form?.put(block, 0, new Int32Array(4))
    const value = `${'0'.repeat(halves)}f`
    expect(block.toString('hex')).toBe(value.repeat(4))
  }
})

/** Bytes of the sound of a DVD behind the head of each packet. */
function bodiesOf(bytes: Buffer): Buffer {
  const packets = packetsOf(bytes).filter(({ id }) => id === 0xa0)
  return Buffer.concat(packets.map(({ contentAt, end }) => bytes.subarray(contentAt + 3, end)))
}

it.each([1, 2, 3, 6])('packs 20 bits in %i channels as ffmpeg unpacks them from a DVD', async (channels) => {
  const path = await film(`dvd20-${channels}.vob`, sweeps(channels), ...dvd('s32'))
  const bytes = await readFile(path)
  for (const { id, contentAt } of packetsOf(bytes)) {
    if (id === 0xa0) bytes[contentAt + 1] = ((bytes[contentAt + 1] as number) & 0x3f) | 0x40
  }
  await writeFile(path, bytes)
  const values = await samplesOf(path, '-af', 'asetpts=N')
  const form = PCM_KINDS.pcm_dvd?.formOf(0x40 | (channels - 1))
  if (!form) throw new Error('unknown')
  const inBlock = form.blockSamples * channels
  const blocks = Math.floor(values.length / inBlock)
  const packed = Buffer.alloc(blocks * form.blockBytes)
  for (let block = 0; block < blocks; block++) {
    form.put(packed, block * form.blockBytes, values.subarray(block * inBlock, (block + 1) * inBlock))
  }
  expect(packed.equals(bodiesOf(bytes).subarray(0, packed.length))).toBe(true)
  expect(packed.length).toBeGreaterThan(50_000)
})

it.each([
  ['lost.m2ts', ['-c:a', 'pcm_bluray'], 192, 0x1100],
  ['lost.ts', ['-c:a', 's302m'], 188, 0x101],
] as const)('leaves %s with a lost packet to ffmpeg, and says why', async (name, options, size, pid) => {
  const path = await film(name, sweeps(2), ...options)
  const packets = readPackets(await readFile(path), size)
  const lost = packets.findIndex(({ pid: own, starts }, place) => place > 150 && own === pid && !starts)
  await writeFile(path, Buffer.concat(packets.filter((_, place) => place !== lost).map(({ bytes }) => bytes)))
  const { plan } = await writtenFile(path)
  const reason = 'packets of the track are missing'
  expect(plan.writing).toMatchObject({ kind: 'remux', declined: [{ writer: 'transport', reason }] })
})

it('leaves the PCM of a DVD with a gap to ffmpeg, and says why', async () => {
  const path = await film('gap.vob', sweeps(2), ...dvd('s16'))
  const bytes = await readFile(path)
  const gone = new Set(
    packetsOf(bytes)
      .filter(({ id }) => id === 0xa0)
      .slice(20, 30),
  )
  await writeFile(
    path,
    Buffer.concat(
      packetsOf(bytes)
        .filter(({ start }) => ![...gone].some((lost) => lost.start === start))
        .map(({ start, end }) => bytes.subarray(start, end)),
    ),
  )
  const { plan } = await writtenFile(path)
  const reason = 'the clock of the track has gaps'
  expect(plan.writing).toMatchObject({ kind: 'remux', declined: [{ writer: 'program', reason }] })
})

it.each([
  ['a recording that ends within a unit', 'cut.m2ts', bluRay('stereo', 's16'), -192 * 37],
  ['a recording that ends within a packet', 'cut.vob', dvd('s32'), -1000],
] as const)('writes %s as it was', async (_name, name, options, cut) => {
  const path = await film(name, sweeps(2), ...options)
  await writeFile(path, (await readFile(path)).subarray(0, cut))
  const { plan, part } = await writtenAgain(path)
  expect(plan.writing.kind).toBe('bytes')
  expect((await readFile(part)).equals(await readFile(path))).toBe(true)
})

it('replaces one of two sounds of a DVD, and no other packet', async () => {
  const sounds = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:a:0', 'ac3', '-c:a:1', 'pcm_dvd', '-f', 'vob']
  const path = await film('two.vob', sweeps(2), ...sounds)
  const { plan, part } = await writtenFile(path, { replaced: [1] })
  expect(bytesWriting(plan).writer).toBe('program')
  expect(changedPackets(await readFile(path), await readFile(part))).toEqual([0xa0])
})

it('replaces both sounds of a camera at once', async () => {
  const sounds = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:a:0', 'ac3', '-c:a:1', 'pcm_bluray']
  const path = await film('both.m2ts', sweeps(2), ...sounds)
  const { plan, verified } = await writtenFile(path, { replaced: [0, 1] })
  expect(bytesWriting(plan).writer).toBe('transport')
  expect(verified.sync).toHaveLength(2)
})
