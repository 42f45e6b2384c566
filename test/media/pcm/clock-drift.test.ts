import { expect, it } from 'vitest'
import { type AudioStreamInfo, audioStreams } from '../../../src/media/media-info.js'
import { decodePcm } from '../../../src/media/pcm/decode-pcm.js'
import { readSamples } from '../../../src/media/pcm/pcm-samples.js'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, picture } from '../../helpers/media-factory.js'
import { collectPcm } from '../../helpers/sound/pcm-buffers.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { laceMatroska } from '../write/matroska/laced-matroska.js'

const RATE = 48_000
const TONE_HZ = 300
const LENGTH_SEC = 20

const folder = folderOfTests()

/** A film of one tone. Its timestamps are multiplied by a factor. */
async function film(name: string, codec: readonly string[], factor: string): Promise<string> {
  const path = folder.file(name)
  const tone = ['-f', 'lavfi', '-i', `sine=${TONE_HZ}:r=${RATE}:d=${LENGTH_SEC},volume=4`]
  const times = ['-bsf:a', `setts=pts=PTS*${factor}:dts=DTS*${factor}`]
  await ffmpeg(...picture(LENGTH_SEC, '64x48', 5), ...tone, '-ac', '1', ...codec, ...times, path)
  return path
}

async function drifts(path: string, inParts: readonly number[] = []): Promise<boolean | undefined> {
  const { media } = await planOutput(await probe(path), { replaced: [0], inParts })
  return (audioStreams(media)[0] as AudioStreamInfo).followsDrift
}

/** Milliseconds by which the tone is late in a second of a track. */
function lateMs(samples: ArrayLike<number>, atSec: number, factor: number): number {
  let [real, imaginary] = [0, 0]
  for (let n = atSec * RATE; n < (atSec + 1) * RATE; n += 1) {
    const angle = (2 * Math.PI * TONE_HZ * n) / RATE / factor
    real += (samples[n] as number) * Math.cos(angle)
    imaginary += (samples[n] as number) * Math.sin(angle)
  }
  return (-Math.atan2(real, imaginary) / (2 * Math.PI * TONE_HZ)) * 1000
}

/** The largest error of a sample against those before it: each sample of a tone follows from two. */
function worstClick(samples: ArrayLike<number>): number {
  const turn = 2 * Math.cos((2 * Math.PI * TONE_HZ) / RATE)
  let worst = 0
  for (let n = RATE / 2; n < (LENGTH_SEC - 1) * RATE; n += 1) {
    const [before, between, now] = [samples[n - 2], samples[n - 1], samples[n]] as unknown as [number, number, number]
    worst = Math.max(worst, Math.abs(now - turn * between + before))
  }
  return worst
}

it.each([
  ['slow.mp4', ['-c:a', 'aac', '-b:a', '128k'], '1023/1024', 1.2],
  ['fast.mov', ['-c:a', 'aac', '-b:a', '128k'], '1025/1024', 1.2],
  ['fast.mkv', ['-c:a', 'libopus', '-b:a', '96k'], '1001/1000', 2.5],
] as const)('stretches the sound of %s along its clock, without a click', async (name, codec, factor, mostMs) => {
  const path = await film(name, codec, factor)
  const { media, notes } = await planOutput(await probe(path), { replaced: [0] })
  expect(notes).toContain('Audio track 0 is stretched a little, because its clock drifts.')
  const samples = readSamples(await collectPcm(decodePcm(media, { audioIndex: 0, sample: 'f32' })), 'f32')
  const [over, under] = factor.split('/').map(Number) as [number, number]
  for (const atSec of [1, 10, 18]) expect(Math.abs(lateMs(samples, atSec, over / under))).toBeLessThan(mostMs)
  expect(worstClick(samples)).toBeLessThan(0.002)
})

it.each([
  ['noisy.mp4', 'aac', 'floor(0.004/TB*sin(2*PI*N/40))'],
  ['noisy.mkv', 'libopus', 'floor(0.005/TB*sin(2*PI*N/40))'],
])('follows the times of %s, which come and go', async (name, codec, moved) => {
  const even = await film(`even-${name}`, ['-c:a', codec, '-b:a', '96k'], '1')
  const path = folder.file(name)
  await ffmpeg('-i', even, '-c', 'copy', '-bsf:a', `setts=ts=TS+${moved}`, path)
  expect(await drifts(path)).toBe(true)
})

it('stretches sound whose clock leaps ahead by little more than rounding', async () => {
  const even = await film('even-leap.mkv', ['-c:a', 'aac', '-ar', '44100'], '1')
  const path = folder.file('leap.mkv')
  await ffmpeg('-i', even, '-c', 'copy', '-bsf:a', 'setts=ts=TS+2*gt(N\\,300)', path)
  expect(await drifts(path)).toBe(true)
})

it.each([
  ['webm', 5],
  ['mkv', 9],
])(
  'does not refuse a .%s whose times often go back by %i ms, and writes it whole without a click',
  async (type, wobbleMs) => {
    const even = await film(`calm.${type}`, ['-c:v', 'libvpx', '-c:a', 'libopus', '-b:a', '96k'], '1')
    const path = folder.file(`wobbling.${type}`)
    // One packet of ten is late.
    await ffmpeg('-i', even, '-c', 'copy', '-bsf:a', `setts=ts=TS+${wobbleMs}*not(mod(N\\,10))`, path)
    expect(await drifts(path, [0])).toBe(true)
    const { media, notes } = await planOutput(await probe(path), { replaced: [0], inParts: [0] })
    expect(notes).toContain('Audio track 0 is opus: it is re-encoded from start to end.')
    const samples = readSamples(await collectPcm(decodePcm(media, { audioIndex: 0, sample: 'f32' })), 'f32')
    for (const atSec of [1, 10, 18]) expect(Math.abs(lateMs(samples, atSec, 1))).toBeLessThan(1.5)
    expect(worstClick(samples)).toBeLessThan(0.002)
  },
)

it('keeps the samples of a track whose packets outside parts stay', async () => {
  const path = await film('parts.mp4', ['-c:a', 'aac'], '1023/1024')
  expect(await drifts(path)).toBe(true)
  expect(await drifts(path, [0])).toBe(false)
})

it('keeps the samples of packets that share a block, though both times are rounded', async () => {
  const [even, path] = [folder.file('even-laced.mkv'), folder.file('laced.mkv')]
  await ffmpeg('-f', 'lavfi', '-i', `sine=${TONE_HZ}:r=44100:d=${LENGTH_SEC}`, '-c:a', 'aac', even)
  await laceMatroska(even, path, 'ebml', 1024 / 44_100)
  expect(await drifts(path)).toBe(false)
})

it.each([
  ['rounded.mkv', ['-c:a', 'aac', '-ar', '44100'], '1'],
  ['other-ticks.mp4', ['-c:a', 'aac', '-ar', '44100', '-video_track_timescale', '90000'], '1'],
  ['lossless.mkv', ['-c:a', 'flac'], '1001/1000'],
  ['uncounted.mov', ['-c:a', 'adpcm_ima_qt'], '1'],
] as const)('keeps the samples of %s', async (name, codec, factor) => {
  expect(await drifts(await film(name, codec, factor))).toBe(false)
})
