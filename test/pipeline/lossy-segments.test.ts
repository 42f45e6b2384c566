import { readFile, writeFile } from 'node:fs/promises'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { summary } from '../../src/cli/output/summary.js'
import { findFfmpeg, forgetBinaries } from '../../src/media/index.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { decodedPcm, jobBench } from '../helpers/job-bench.js'
import { ffmpeg, picture, type TestFolder, tone } from '../helpers/media-factory.js'
import { audioPackets } from '../helpers/spliced-file.js'
import { folderOfTests } from '../helpers/system/folder-of-tests.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()

/** From now on, ffmpeg is started by a script that notes its arguments; returns what reads them, a line a call. */
async function loggedCalls(folder: TestFolder): Promise<() => Promise<readonly string[]>> {
  const { path } = await findFfmpeg()
  const [script, log] = [folder.file('ffmpeg'), folder.file('calls')]
  await writeFile(script, `#!/bin/sh\necho "$*" >> '${log}'\nexec '${path}' "$@"\n`, { mode: 0o755 })
  vi.stubEnv('VOXMUX_FFMPEG', script)
  forgetBinaries()
  return async () => (await readFile(log, 'utf8')).split('\n')
}

afterEach(() => {
  vi.unstubAllEnvs()
  forgetBinaries()
})

/** A rising tone in noise: it resembles itself at no other time. */
const WAVE = '0.3*sin(2*PI*t*(200+9*t))+0.05*(random(1)-0.5)'
const AAC = ['-c:a', 'aac', '-b:a', '48k', '-aac_pns', '0']
const NOISE = ['-f', 'lavfi', '-i', `aevalsrc=${WAVE}:s=16000:d=60`]
const COPY = ['-c', 'copy']

type Row = readonly [name: string, options: readonly string[]]

/** Each way to find packets by their time. */
const COMMON: readonly Row[] = [
  ['indexed.mp4', COPY],
  // Places in these fragments count from the start of the file.
  ['fragments.mp4', [...COPY, '-movflags', 'frag_keyframe+empty_moov']],
  ['cued.mkv', COPY],
]
const RARE: readonly Row[] = [
  ['fragments-of-dash.mp4', [...COPY, '-movflags', 'dash+frag_keyframe']],
  ['plain.aac', AAC],
  ['plain.mp3', ['-c:a', 'libmp3lame', '-b:a', '128k', '-ar', '44100']],
  ['plain.ac3', ['-c:a', 'ac3', '-b:a', '96k', '-ar', '48000']],
]

describe('--segment in a lossy track', () => {
  const folder = folderOfTests()
  /** A minute of film, encoded once for every way to find its packets. */
  let film: string
  beforeAll(async () => {
    film = folder.file('film.mp4')
    const coding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10', ...AAC]
    await ffmpeg(...picture(60, '64x48', 5), ...NOISE, ...coding, film)
  })

  it('keeps the packets outside it, and the receipt lists them', async () => {
    const input = bench.folder.file('film.mp4')
    const film = ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-b:a', '96k']
    await ffmpeg(...picture(6), ...tone(6), ...film, input)
    bench.answerWith('-af', 'volume=0.5')
    const segments = [{ startSec: 2, endSec: 3 }]
    const { event, receipt } = await runJob(requestFor(input, { segments }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    const [before, after] = await Promise.all([input, bench.folder.file('film.regen.mp4')].map(audioPackets))
    const changed = before?.flatMap(({ hash }, place) => (after?.[place]?.hash === hash ? [] : [place + 1])) ?? []
    const [packets] = receipt?.tracks.map((track) => track.packets) ?? []
    const [first, second] = packets?.kept ?? []
    expect(packets?.count).toBe(before?.length)
    expect([first?.from, second?.to]).toEqual([1, before?.length])
    expect(Math.min(...changed)).toBeGreaterThan(first?.to ?? 0)
    expect(Math.max(...changed)).toBeLessThan(second?.from ?? 0)
    // A second of sound, and at most eight packets on each side in which the joints may lie.
    expect(changed.length).toBeLessThan(48 + 3 + 16)
    const runs = `1-${first?.to}, ${second?.from}-${second?.to}`
    expect(receipt?.notes).toContain(`Audio track 0: packets ${runs} of ${packets?.count} are the original's.`)
    expect(receipt?.verification.checks).toContain('packets outside the changed parts')
  })

  it.each(process.env.VOXMUX_SOAK ? [...COMMON, ...RARE] : COMMON)(
    'decodes only the sound around segments that lie far apart in %s',
    async (name, options) => {
      const input = bench.folder.file(name)
      await ffmpeg(...(options[0] === '-c' ? ['-i', film] : NOISE), ...options, input)
      bench.answerWith('-af', 'volume=0.5')
      const calls = await loggedCalls(bench.folder)
      const segments = [
        { startSec: 14, endSec: 15 },
        { startSec: 52, endSec: 53 },
      ]
      const outcome = await runJob(requestFor(input, { segments }), bench.pipeline.context)
      const { event, receipt } = outcome
      expect(event).toMatchObject({ status: 'done', error: null })
      // The cut, the splice and the verification each read both parts, from five seconds before the handles on. The trial
      // of the codec reads a file of its own.
      const decoded = (await calls()).filter((line) => /-copyts .*\[0:/.test(line) && !line.includes('/voxmux-donor-'))
      const [startSec] = decoded.map((line) => Number(/ -ss ([\d.]+) /.exec(line)?.[1] ?? Number.NaN))
      const isPiped = name.startsWith('fragments')
      const lateSec = isPiped ? 0 : (startSec ?? 0) - 8
      const from = (sec: number) => (isPiped ? 'pipe:0' : (sec + lateSec).toFixed(6))
      const starts = decoded.map((line) => / -ss ([\d.]+) /.exec(line)?.[1] ?? / -i (pipe:0) /.exec(line)?.[1])
      expect(starts.sort()).toEqual([46, 46, 46, 8, 8, 8].map(from))
      expect(lateSec).toBeLessThan(0.1)
      expect(receipt?.verification.checks).toContain('new audio decoded in the changed parts')
      expect(receipt?.verification.checks).toContain('packets outside the changed parts')
      const [track] = receipt?.tracks ?? []
      expect(track?.sync.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
      expect(track?.loudness.of).toBe('parts')
      expect(summary([outcome])).toMatch(/loudness .* LUFS.* → .* LUFS.* in the regenerated parts$/m)
      const fallDb = (track?.loudness.before.integratedLufs ?? 0) - (track?.loudness.after.integratedLufs ?? 0)
      expect(fallDb).toBeCloseTo(6, 0)
      const output = bench.folder.file(name.replace('.', '.regen.'))
      const [was, is] = await Promise.all([input, output].map((path) => decodedPcm(path)))
      const rate = track?.sampleRate ?? 16_000
      const power = (pcm: Buffer | undefined, sec: number) => {
        let sum = 0
        for (let at = sec * rate; at < (sec + 0.5) * rate; at++) sum += (pcm?.readInt32LE(4 * at) ?? 0) ** 2
        return sum
      }
      // LAME makes sound of a low bit rate quieter by up to half a decibel.
      const falls = [10, 14.25, 30, 52.25, 56].map((sec) => Math.round(power(was, sec) / power(is, sec)))
      expect(falls).toEqual([1, 4, 1, 4, 1])
    },
  )

  it('re-encodes the track if its loudness changes everywhere', async () => {
    const input = bench.folder.file('loud.m4a')
    await ffmpeg(...tone(4), '-c:a', 'aac', input)
    const recipe = { loudness: { targetLufs: -16, truePeakDbtp: -1 } }
    const segments = [{ startSec: 1, endSec: 2 }]
    const { event, receipt } = await runJob(requestFor(input, { recipe, segments }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(receipt?.tracks.map(({ packets }) => packets)).toEqual([null])
    expect(receipt?.notes).toContain('Audio track 0 is aac: it is re-encoded from start to end.')
  })
})
