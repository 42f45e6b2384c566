import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outputTypeSchema } from '../../../src/contract/index.js'
import { audioStreams, probe } from '../../../src/media/index.js'
import { processFile } from '../../../src/service/engine/process-file.js'
import { VoicePool } from '../../../src/voice/index.js'
import { siSdr } from '../../bench/voice-quality/si-sdr.js'
import { bestLag, decoded, makeWav } from '../../helpers/sound/engine-fixtures.js'
import { channelOf } from '../../helpers/sound/float-buffers.js'
import { noisySpeech } from '../../helpers/sound/made-speech.js'

const folder = mkdtempSync(join(tmpdir(), 'voxmux-engine-'))
const pool = new VoicePool({ workers: 2 })
const at = (name: string) => join(folder, name)
const SECONDS = process.env.VOXMUX_SOAK ? 4 : 2.5
const { noisy, clean } = noisySpeech(SECONDS * 48_000, { noiseGain: 0.1, seed: 7 })

/** A type of each kind: lossless, lossy, one with a container of its own and one without. The soak writes all. */
const TYPES = ['wav', 'mp3', 'aac', 'm4a', 'opus'] as const

/** Suppressed noise moves the peak of the correlation with the noisy input a little: 0.05 ms at 48 kHz. */
const PEAK_SAMPLES = 2

beforeAll(() => makeWav(at('noisy.wav'), noisy))
afterAll(async () => {
  await pool.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Without the edges, where lossy codecs start up. */
const inner = (samples: Float32Array) => samples.subarray(4800, SECONDS * 48_000 - 4800)

/** Place of the first sample that differs, -1 where there is none. */
function firstDifference(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return a && b && a.length === b.length ? a.findIndex((value, i) => value !== b[i]) : 0
}

/** Adds a chunk behind those of a WAV. */
function appendChunk(path: string, id: string, content: Buffer): void {
  const bytes = readFileSync(path)
  const head = Buffer.alloc(8)
  head.write(id, 0, 'latin1')
  head.writeUInt32LE(content.length, 4)
  const whole = Buffer.concat([bytes, head, content, Buffer.alloc(content.length % 2)])
  whole.writeUInt32LE(whole.length - 8, 4)
  writeFileSync(path, whole)
}

/** ffmpeg, quiet. */
function ffmpeg(...args: string[]): void {
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...args])
}

describe('processFile', () => {
  test.each(process.env.VOXMUX_SOAK ? outputTypeSchema.options : TYPES)(
    'writes %s: playable, in sync, of the right length, with less noise, and tells its progress',
    async (type) => {
      const output = at(`out.${type}`)
      const seen: number[] = []
      const onProgress = (percent: number) => void seen.push(percent)
      const result = await processFile({ input: at('noisy.wav'), output, outputType: type, pool, onProgress })
      expect(result.extension).toBe(type)
      expect(seen).toEqual([...seen].sort((a, b) => a - b))
      expect(seen.at(-1)).toBe(100)
      expect(seen.filter((percent) => percent < 99).length).toBeGreaterThan(SECONDS)
      const media = await probe(output)
      expect(media.container).toBe(type)
      // Containers count a codec's start-up (and MP3 its last frame's padding) in; raw AAC says nothing: ffprobe guesses.
      if (type !== 'aac') expect(Math.abs((media.durationSec ?? 0) - SECONDS)).toBeLessThan(0.05)
      const samples = decoded(output, { rate: 48_000, channels: 1 })
      // AAC comes in whole frames; in an m4a a player cuts the last by the edit list, ffmpeg's decoder does not.
      const slack = type === 'aac' || type === 'm4a' ? 1024 : 0
      expect(Math.abs(samples.length - noisy.length)).toBeLessThanOrEqual(slack)
      expect(Math.abs(bestLag(noisy, samples, 1200))).toBeLessThanOrEqual(PEAK_SAMPLES)
      expect(siSdr(inner(clean), inner(samples))).toBeGreaterThan(siSdr(inner(clean), inner(noisy)) + 1)
    },
  )

  const traitful = [
    {
      name: '44.1 kHz stereo, 24 bits',
      args: ['-ar', '44100', '-ac', '2', '-c:a', 'pcm_s24le'],
      file: 'a.wav',
      rate: 44_100,
    },
    { name: '16 kHz FLAC', args: ['-ar', '16000', '-c:a', 'flac'], file: 'c.flac', rate: 16_000 },
  ]
  const further = [
    { name: '96 kHz, float', args: ['-ar', '96000', '-c:a', 'pcm_f32le'], file: 'b.wav', rate: 96_000 },
    {
      name: '48 kHz FLAC of 24 bits',
      args: ['-c:a', 'flac', '-sample_fmt', 's32', '-bits_per_raw_sample', '24'],
      file: 'd.flac',
      rate: 48_000,
    },
    { name: '22.05 kHz AIFF, 8 bits', args: ['-ar', '22050', '-c:a', 'pcm_s8'], file: 'e.aiff', rate: 22_050 },
  ]
  const kept = process.env.VOXMUX_SOAK ? [...traitful, ...further] : traitful
  test.each(kept)('keeps rate, layout, width, length and place: $name', async ({ args, file, rate }) => {
    ffmpeg('-i', at('noisy.wav'), ...args, at(file))
    await processFile({ input: at(file), output: at(`out-${file}`), pool })
    const [before] = audioStreams(await probe(at(file)))
    const [after] = audioStreams(await probe(at(`out-${file}`)))
    const traits = (stream: typeof before) => [
      stream?.codec,
      stream?.sampleRate,
      stream?.channels,
      stream?.bitsPerSample,
      stream?.sampleFormat,
    ]
    expect(traits(after)).toEqual(traits(before))
    const original = decoded(at(file), { rate, channels: before?.channels ?? 1 })
    const result = decoded(at(`out-${file}`), { rate, channels: before?.channels ?? 1 })
    expect(result.length).toBe(original.length)
    expect(Buffer.compare(Buffer.from(result.buffer), Buffer.from(original.buffer))).not.toBe(0)
    const mono = (samples: Float32Array) => channelOf(samples, 0, before?.channels ?? 1)
    expect(Math.abs(bestLag(mono(original), mono(result), 600))).toBeLessThanOrEqual(2 * PEAK_SAMPLES)
  })

  test('leaves what needs no mending as it is, to the bit, at any rate', async () => {
    await using content = new VoicePool({
      workers: 1,
      engine: { kind: 'embedded', evidence: { cleanDb: -1, noisyDb: 0 } },
    })
    makeWav(at('clean.wav'), clean)
    ffmpeg('-i', at('clean.wav'), '-ar', '44100', '-c:a', 'pcm_s24le', at('clean44.wav'))
    await processFile({ input: at('clean44.wav'), output: at('clean44-out.wav'), pool: content })
    const [before, after] = ['clean44.wav', 'clean44-out.wav'].map((file) =>
      decoded(at(file), { rate: 44_100, channels: 1 }),
    )
    expect(firstDifference(before, after)).toBe(-1)
  })

  test('keeps what a production sound file says of itself', async () => {
    const tags = ['-metadata', 'originator=Recorder', '-metadata', 'time_reference=480000', '-metadata', 'title=Take 7']
    ffmpeg('-i', at('noisy.wav'), '-t', '1', ...tags, '-write_bext', '1', at('bwf.wav'))
    appendChunk(at('bwf.wav'), 'iXML', Buffer.from('<BWFXML><SCENE>12</SCENE></BWFXML>'))
    await processFile({ input: at('bwf.wav'), output: at('bwf-out.wav'), pool })
    const { tags: kept } = await probe(at('bwf-out.wav'))
    expect(kept).toMatchObject({ encoded_by: 'Recorder', time_reference: '480000', title: 'Take 7' })
    expect(readFileSync(at('bwf-out.wav')).includes('<SCENE>12</SCENE>')).toBe(true)
    expect(decoded(at('bwf-out.wav'), { rate: 48_000, channels: 1 }).length).toBe(48_000)
  })

  test.each([
    ['law.wav', 'pcm_mulaw'],
    ['law.aiff', 'pcm_alaw'],
    ['lossless.m4a', 'alac'],
  ])('keeps the coding of %s, %s', async (name, codec) => {
    ffmpeg('-i', at('noisy.wav'), '-c:a', codec, at(name))
    const { extension } = await processFile({ input: at(name), output: at(`out-${name}`), pool })
    expect(audioStreams(await probe(at(`out-${name}`)))[0]?.codec).toBe(codec)
    expect(name.endsWith(`.${extension}`)).toBe(true)
  })

  test.each([
    ['part.oga', 'flac'],
    ['part.caf', 'alac'],
    ['part.m4a', 'alac'],
    ['part.w64', 'pcm_s16le'],
    ['part.wma', 'wmav2'],
  ])('takes a part of %s from its exact place', async (name, codec) => {
    ffmpeg('-i', at('noisy.wav'), '-c:a', codec, at(name))
    const output = at(`out-${name}`)
    await processFile({ input: at(name), output, startSec: 1.0005, endSec: 1.9, pool })
    const samples = decoded(output, { rate: 48_000, channels: 1 })
    // WMA comes in whole frames, and its decoder leaves out the first.
    const lead = codec === 'wmav2' ? 4096 : 0
    expect(Math.abs(samples.length - 0.8995 * 48_000)).toBeLessThanOrEqual(2 * lead)
    const from = Math.round(1.0005 * 48_000) + 4800
    const lag = bestLag(noisy.subarray(from, from + 24_000), samples.subarray(4800, 28_800), 6000)
    expect(Math.abs(lag)).toBeLessThanOrEqual(PEAK_SAMPLES + lead)
  })

  test('takes a part alone, to the sample, and clamps its end', async () => {
    await processFile({ input: at('noisy.wav'), output: at('part.wav'), startSec: 1, endSec: 2, pool })
    const samples = decoded(at('part.wav'), { rate: 48_000, channels: 1 })
    expect(samples.length).toBe(48_000)
    expect(Math.abs(bestLag(noisy.subarray(48_000, 96_000), samples, 600))).toBeLessThanOrEqual(PEAK_SAMPLES)
    await processFile({ input: at('noisy.wav'), output: at('part.wav'), startSec: SECONDS - 1, endSec: 99, pool })
    expect(decoded(at('part.wav'), { rate: 48_000, channels: 1 }).length).toBe(48_000)
  })
})

describe('processFile refuses', () => {
  test.each([
    { name: 'a text', make: (path: string) => writeFileSync(path, 'no sound here'), errorCode: -2 },
    { name: 'an empty file', make: (path: string) => writeFileSync(path, ''), errorCode: -2 },
    {
      name: 'a picture alone',
      make: (path: string) => ffmpeg('-f', 'lavfi', '-i', 'testsrc=d=1:s=64x64', '-f', 'mp4', path),
      errorCode: -18,
    },
    {
      name: 'six channels',
      make: (path: string) => ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=1', '-ac', '6', '-f', 'wav', path),
      errorCode: -4,
    },
    {
      name: 'a tenth of nothing',
      make: (path: string) => ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=0.02', '-f', 'wav', path),
      errorCode: -14,
    },
    {
      name: 'hiss without a voice',
      make: (path: string) => ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=4:a=0.1', '-f', 'wav', path),
      errorCode: -3,
    },
    {
      name: 'silence',
      make: (path: string) => ffmpeg('-f', 'lavfi', '-i', 'anullsrc', '-t', '3', '-f', 'wav', path),
      errorCode: -3,
    },
  ])('$name, with $errorCode, and leaves nothing', async ({ make, errorCode }) => {
    make(at('bad'))
    await expect(processFile({ input: at('bad'), output: at('bad.out'), pool })).rejects.toMatchObject({ errorCode })
    expect(existsSync(at('bad.out'))).toBe(false)
  })

  test('a part beyond the end, with -14', async () => {
    const wanted = { input: at('noisy.wav'), output: at('beyond.wav'), startSec: 60, pool }
    await expect(processFile(wanted)).rejects.toMatchObject({ errorCode: -14 })
  })

  test('to go on after its deadline, with -12, and when it is interrupted', async () => {
    const wanted = { input: at('noisy.wav'), output: at('late.wav'), pool }
    await expect(processFile({ ...wanted, timeoutMs: 1 })).rejects.toMatchObject({ errorCode: -12 })
    await expect(processFile({ ...wanted, signal: AbortSignal.abort() })).rejects.toMatchObject({ exitCode: 130 })
    expect(existsSync(at('late.wav'))).toBe(false)
  })
})
