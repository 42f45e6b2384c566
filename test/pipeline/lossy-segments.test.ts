import { readFile, writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { findFfmpeg, forgetBinaries } from '../../src/media/index.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { decodedPcm, jobBench } from '../helpers/job-bench.js'
import { ffmpeg, picture, type TestFolder, tone } from '../helpers/media-factory.js'
import { audioPackets } from '../helpers/spliced-file.js'
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

describe('--segment in a lossy track', () => {
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

  it('decodes only the sound around segments that lie far apart', async () => {
    const input = bench.folder.file('long.mp4')
    const noise = 'aevalsrc=0.3*sin(2*PI*t*(200+9*t))+0.05*(random(1)-0.5):s=16000:d=60'
    const film = ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-b:a', '48k', '-aac_pns', '0']
    await ffmpeg(...picture(60, '64x48', 5), '-f', 'lavfi', '-i', noise, ...film, input)
    bench.answerWith('-af', 'volume=0.5')
    const calls = await loggedCalls(bench.folder)
    const segments = [
      { startSec: 14, endSec: 15 },
      { startSec: 52, endSec: 53 },
    ]
    const { event, receipt } = await runJob(requestFor(input, { segments }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    // The cut, the splice and the verification each read both parts, from five seconds before the handles on.
    const decoded = (await calls()).filter((line) => /file:\S+(long\.mp4|\.part) .*\[0:/.test(line))
    const starts = decoded.map((line) => / -ss ([\d.]+) /.exec(line)?.[1]).sort()
    expect(starts).toEqual(['46.000000', '46.000000', '46.000000', '8.000000', '8.000000', '8.000000'])
    expect(receipt?.verification.checks).toContain('new audio decoded in the changed parts')
    const [track] = receipt?.tracks ?? []
    expect(track?.sync.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
    expect(track?.loudness.of).toBe('parts')
    const fallDb = (track?.loudness.before.integratedLufs ?? 0) - (track?.loudness.after.integratedLufs ?? 0)
    expect(fallDb).toBeCloseTo(6, 0)
    const [was, is] = await Promise.all([input, bench.folder.file('long.regen.mp4')].map((path) => decodedPcm(path)))
    const power = (pcm: Buffer | undefined, sec: number) => {
      let sum = 0
      for (let at = sec * 16_000; at < (sec + 0.5) * 16_000; at++) sum += (pcm?.readInt32LE(4 * at) ?? 0) ** 2
      return sum
    }
    const falls = [10, 14.25, 30, 52.25, 56].map((sec) => Math.round((power(was, sec) / power(is, sec)) * 10) / 10)
    expect(falls).toEqual([1, 4, 1, 4, 1])
  })

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
