import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { audioStreams, probe } from '../../../src/media/index.js'
import { processFile } from '../../../src/service/engine/process-file.js'
import { VoicePool } from '../../../src/voice/index.js'
import { bestLag, decoded, makeWav } from '../../helpers/sound/engine-fixtures.js'
import { noisySpeech } from '../../helpers/sound/made-speech.js'

const folder = mkdtempSync(join(tmpdir(), 'voxmux-engine-video-'))
const pool = new VoicePool({ workers: 2 })
const at = (name: string) => join(folder, name)
const { noisy } = noisySpeech(3 * 48_000, { noiseGain: 0.1, seed: 8 })

afterAll(async () => {
  await pool.close()
  rmSync(folder, { recursive: true, force: true })
})

function makeFilm(name: string, ...args: string[]): string {
  makeWav(at('sound.wav'), noisy)
  const picture = ['-f', 'lavfi', '-i', 'testsrc=d=3:s=64x64:r=25']
  const common = ['-c:v', 'mpeg4', '-g', '25', '-metadata', 'title=Interview']
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...picture, '-i', at('sound.wav'), ...common, ...args, at(name)])
  return at(name)
}

/** A hash of each video packet's bytes. */
function videoPackets(path: string): string {
  return execFileSync('ffmpeg', [
    '-v',
    'error',
    '-i',
    path,
    '-map',
    '0:v',
    '-c',
    'copy',
    '-f',
    'streamhash',
    '-',
  ]).toString()
}

const films = [
  { name: 'mov with PCM', file: 'film.mov', args: ['-c:a', 'pcm_s16le'] },
  { name: 'mp4 with AAC', file: 'film.mp4', args: ['-c:a', 'aac'] },
]
const further = [{ name: 'mkv with FLAC', file: 'film.mkv', args: ['-c:a', 'flac'] }]

test.each(process.env.VOXMUX_SOAK ? [...films, ...further] : films)(
  'a video keeps its pictures, packet for packet, and its sync: $name',
  async ({ file, args }) => {
    const input = makeFilm(file, ...args)
    const output = at(`out-${file}`)
    const { extension } = await processFile({ input, output, pool })
    expect(file.endsWith(extension)).toBe(true)
    expect(videoPackets(output)).toBe(videoPackets(input))
    const [before, after] = [await probe(input), await probe(output)]
    expect(audioStreams(after)[0]?.codec).toBe(audioStreams(before)[0]?.codec)
    const sound = { rate: 48_000, channels: 1 }
    expect(Math.abs(bestLag(decoded(input, sound), decoded(output, sound), 1200))).toBeLessThanOrEqual(1)
  },
)

test('a part of a video is that part, in sync, and nothing else is left behind', async () => {
  const input = makeFilm('film.mkv', '-c:a', 'flac')
  const output = at('part.mkv')
  await processFile({ input, output, startSec: 1, endSec: 3, pool })
  const media = await probe(output)
  expect(media.durationSec).toBeCloseTo(2, 0)
  expect(
    Math.abs(bestLag(noisy.subarray(48_000, 144_000), decoded(output, { rate: 48_000, channels: 1 }), 1200)),
  ).toBeLessThanOrEqual(48)
  expect(readdirSync(folder).filter((name) => name.startsWith('part'))).toEqual(['part.mkv'])
})

type Middle = readonly [name: string, rate: string, args: readonly string[], startSec: number]
const middles: readonly Middle[] = [
  ['film.mp4', '24', ['-c:a', 'aac', '-c:v', 'libx264', '-pix_fmt', 'yuv420p'], 1.337],
]
const otherMiddles: readonly Middle[] = [
  ['film.mp4', '30000/1001', ['-c:a', 'aac', '-c:v', 'libx264', '-pix_fmt', 'yuv420p'], 1.5],
  ['film.mov', '25', ['-c:a', 'pcm_s16le'], 0.5],
]

test.each(process.env.VOXMUX_SOAK ? [...middles, ...otherMiddles] : middles)(
  'a part of a video may begin in the middle of a picture: %s, %s a second',
  async (name, rate, args, startSec) => {
    const input = makeFilm(name, '-r', rate, ...args)
    const output = at(`middle-${name}`)
    await processFile({ input, output, startSec, endSec: 2.5, pool })
    const [picture] = (await probe(output)).streams.filter(({ kind }) => kind === 'video')
    expect(picture?.codec).toBe((await probe(input)).streams[0]?.codec)
    // It begins with that picture: no more than its length before the place that was asked for.
    const lengthSec = (rate === '24' ? 1 / 24 : rate === '25' ? 1 / 25 : 1001 / 30000) + 0.03
    const soundSec = decoded(output, { rate: 48_000, channels: 1 }).length / 48_000
    expect(soundSec).toBeGreaterThan(2.5 - startSec - 0.03)
    expect(soundSec).toBeLessThan(2.5 - startSec + lengthSec)
  },
)

test('a video gives its sound alone when a type is asked for', async () => {
  const input = makeFilm('film.mov', '-c:a', 'pcm_s16le')
  await processFile({ input, output: at('sound-out'), outputType: 'flac', pool })
  const media = await probe(at('sound-out'))
  expect(media.container).toBe('flac')
  expect(media.streams.map(({ kind }) => kind)).toEqual(['audio'])
})
