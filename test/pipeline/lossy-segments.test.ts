import { describe, expect, it } from 'vitest'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { jobBench } from '../helpers/job-bench.js'
import { ffmpeg, picture, tone } from '../helpers/media-factory.js'
import { audioPackets } from '../helpers/spliced-file.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()

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
