import { copyFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CommandContext } from '../../../src/cli/command.js'
import { summary } from '../../../src/cli/output/summary.js'
import { showPlans } from '../../../src/cli/show/dry-run.js'
import { errorReport, TransientError } from '../../../src/core/errors.js'
import { silentLogger } from '../../../src/core/logger.js'
import type { JobEvent } from '../../../src/pipeline/events.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import { decodedPcm, fixture, jobBench, streamHash } from '../../helpers/job-bench.js'
import { ffmpeg, ffprobeJson } from '../../helpers/media-factory.js'
import { openTestPipeline, requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

it('an answer that is the voice as it was sent: the same file, a receipt that says so, and the same job again is skipped', async () => {
  const input = await bench.take('timecode.mov')
  const events: JobEvent[] = []
  const outcome = await runJob(requestFor(input), bench.pipeline.context, { onEvent: (event) => events.push(event) })

  // Every sample of a PCM master, and every packet of all else.
  expect(outcome.event).toMatchObject({ status: 'done', error: null })
  const output = bench.folder.file('timecode.regen.mov')
  expect(outcome.event.output).toBe(output)
  expect((await decodedPcm(output)).equals(await decodedPcm(input))).toBe(true)
  expect(await streamHash(output, '0:v')).toBe(await streamHash(input, '0:v'))
  const { streams } = (await ffprobeJson(output, '-show_streams')) as { streams: { tags?: { timecode?: string } }[] }
  expect(streams.some(({ tags }) => tags?.timecode === '10:00:00:00')).toBe(true)

  const receipt = await readReceipt(outcome.event.receipt ?? '')
  expect(receipt?.input.sizeBytes).toBe((await stat(input)).size)
  expect(receipt?.voices).toHaveLength(1)
  expect(receipt?.voices[0]).toMatchObject({ lagSamples: 0, cached: false, changedSec: 0, removedDb: null })
  expect(receipt?.tracks[0]?.sync.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  expect(receipt?.streams.filter(({ kind }) => kind === 'video')).toEqual([
    expect.objectContaining({ fate: 'copied', packetHash: expect.objectContaining({ input: expect.any(String) }) }),
  ])
  const [video] = receipt?.streams ?? []
  expect(video?.packetHash?.output).toBe(video?.packetHash?.input)

  const names = (await readdir(bench.folder.path)).filter((name) => name !== 'state').sort()
  expect(names).toEqual(['timecode.mov', 'timecode.regen.mov', 'timecode.regen.mov.voxmux.json'])
  expect(await readdir(bench.folder.file('state/work'))).toEqual([])

  // The stages in their order, each ending at 100.
  expect(events.at(-1)).toMatchObject({ event: 'file', status: 'done' })
  const progress = events.filter((event) => event.event === 'progress')
  expect(new Set(events.map(({ id }) => id)).size).toBe(1)
  const stages = [...new Set(progress.map(({ stage }) => stage))]
  expect(stages).toEqual([
    ...['probe', 'precheck', 'plan', 'cut', 'upload', 'process', 'download', 'align', 'splice', 'mux', 'verify'],
    'publish',
  ])
  for (const stage of stages) {
    const percents = progress.filter((event) => event.stage === stage).map(({ percent }) => percent)
    expect(percents.at(-1)).toBe(100)
    expect(percents).toEqual([...percents].sort((a, b) => a - b))
  }

  // Again: without a word to the service, also by its receipt alone when the ledger was lost.
  const requests = bench.server.requests.length
  const again = await runJob(requestFor(input), bench.pipeline.context)
  expect(again.event).toMatchObject({ status: 'skipped', output, error: null })
  const fresh = await openTestPipeline(bench.server, bench.folder.file('other-state'))
  expect((await runJob(requestFor(input), fresh.context)).event.status).toBe('skipped')
  await fresh.close()
  expect(bench.server.requests.length).toBe(requests)

  // Nothing is paid if its output was lost.
  await rm(output)
  const made = await runJob(requestFor(input), bench.pipeline.context)
  expect(made.event.status).toBe('done')
  expect(made.receipt?.voices[0]).toMatchObject({ cached: true, paidSec: 0 })
  expect(bench.server.calls.startProcess).toBe(1)
})

describe('an answer that comes back otherwise', () => {
  const misplaced: readonly (readonly [string, readonly string[]])[] = [
    ['40 ms early', ['-af', 'atrim=start=0.04,asetpts=PTS-STARTPTS']],
    ['late and padded', ['-af', 'adelay=1201S:all=1,apad=pad_dur=0.3']],
  ]
  const alone: typeof misplaced = [
    ['25 ms late', ['-af', 'adelay=25:all=1']],
    ['padded at its end', ['-af', 'apad=pad_dur=0.7']],
  ]

  it.each(process.env.VOXMUX_SOAK ? [...misplaced, ...alone] : misplaced)(
    '%s is laid in sync to the sample',
    async (_what, args) => {
      const input = await bench.take('timecode.mov')
      bench.answerWith(...args)
      const outcome = await runJob(requestFor(input), bench.pipeline.context)
      expect(outcome.event).toMatchObject({ status: 'done' })
      const [before, after] = [await decodedPcm(input), await decodedPcm(bench.folder.file('timecode.regen.mov'))]
      expect(after.length).toBe(before.length)
      // What an early answer lacks at its start is silence; everything it has stands where it was.
      const from = Math.round(0.05 * 48_000) * 8
      expect(after.subarray(from).equals(before.subarray(from))).toBe(true)
    },
  )

  it('mono for stereo at 44.1 kHz is conformed and in sync', async () => {
    const input = await bench.take('timecode.mov')
    bench.answerWith('-ac', '1', '-ar', '44100')
    const { event, receipt } = await runJob(requestFor(input), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done' })
    expect(receipt?.voices[0]?.lagSamples).toBe(0)
    expect((await decodedPcm(bench.folder.file('timecode.regen.mov'))).length).toBe((await decodedPcm(input)).length)
    expect(receipt?.tracks[0]?.sync.every(({ offsetSamples }) => offsetSamples === 0 || offsetSamples === null)).toBe(
      true,
    )
  })

  it('is refused where it is another sound: exit 7, nothing published, both files kept', async () => {
    const input = await bench.take('timecode.mov')
    bench.answerWith('-af', 'areverse')
    const outcome = await runJob(requestFor(input), bench.pipeline.context)
    expect(outcome.error?.exitCode).toBe(7)
    expect(outcome.event.output).toBeNull()
    const kept = await readdir(bench.folder.file('state/inspect'))
    expect(kept).toHaveLength(1)
    expect((await readdir(join(bench.folder.file('state/inspect'), kept[0] as string))).sort()).toEqual([
      'answer-0.flac',
      'voice-0.flac',
    ])
  })
})

describe('a segment', () => {
  const segments = [{ startSec: 1, endSec: 1.5 }]
  const edges = [1, 1.5].map((sec) => sec * 48_000 * 8) as [number, number]

  it('is replaced, and every sample outside it is the original', async () => {
    const input = await bench.take('timecode.mov')
    bench.answerWith('-af', 'volume=0.5')
    const outcome = await runJob(requestFor(input, { segments }), bench.pipeline.context)
    expect(outcome.event).toMatchObject({ status: 'done' })
    const [before, after] = [await decodedPcm(input), await decodedPcm(bench.folder.file('timecode.regen.mov'))]
    expect(after.length).toBe(before.length)
    expect(after.subarray(0, edges[0]).equals(before.subarray(0, edges[0]))).toBe(true)
    expect(after.subarray(edges[1]).equals(before.subarray(edges[1]))).toBe(true)
    expect(after.equals(before)).toBe(false)
  })

  it('is found in an answer of the whole length', async () => {
    const input = await bench.take('timecode.mov')
    bench.server.behaviour.regenerate = async (_path, { fileId }) => {
      const whole = bench.folder.file(`${fileId}.flac`)
      await ffmpeg('-i', input, '-map', '0:a:0', '-c:a', 'flac', whole)
      return readFile(whole)
    }
    const outcome = await runJob(
      requestFor(input, { segments, recipe: { segments: { handleSec: 0.2, crossfadeSec: 0.01 } } }),
      bench.pipeline.context,
    )
    expect(outcome.event).toMatchObject({ status: 'done' })
    expect((await decodedPcm(bench.folder.file('timecode.regen.mov'))).equals(await decodedPcm(input))).toBe(true)
  })
})

describe('an output of another name', () => {
  const to = (input: string, name: string) => ({ ...requestFor(input), output: bench.folder.file(name) })

  it('never loses the picture of a film unasked, and holds the sound alone where its name says so', async () => {
    const input = bench.folder.file('film.mp4')
    await ffmpeg('-t', '2', '-i', fixture('interview.mp4'), '-map', '0:v', '-map', '0:a', '-c', 'copy', input)
    const lost = await runJob(to(input, 'x.webm'), bench.pipeline.context)
    expect(lost.error).toMatchObject({
      ...{ code: 'ERR_PICTURE_LOST', exitCode: 2, message: expect.stringContaining('h264') },
      remedies: [expect.stringContaining('.mkv')],
    })
    expect(bench.server.calls.registerFile ?? 0).toBe(0)
    const sound = await runJob(to(input, 'x.mka'), bench.pipeline.context)
    expect(sound.event).toMatchObject({ error: null, status: 'done' })
    const { streams } = (await ffprobeJson(bench.folder.file('x.mka'), '-show_streams')) as {
      streams: { codec_type: string }[]
    }
    expect(streams.filter(({ codec_type }) => codec_type === 'video')).toEqual([])
    expect(streams.some(({ codec_type }) => codec_type === 'audio')).toBe(true)
    if (!sound.receipt) throw new Error('no receipt')
    expect(summary([sound])).not.toContain('nothing else was in the file')
    const unpaid = (cached: boolean) => {
      const voices = (sound.receipt?.voices ?? []).map((voice) => ({ ...voice, paidSec: 0, cached }))
      return summary([{ ...sound, receipt: sound.receipt && { ...sound.receipt, voices } }])
    }
    expect(unpaid(true)).toContain('(nothing paid, all of it was cached)')
    expect(unpaid(false)).toContain('(nothing paid, all of it was paid for before)')
  })

  it('is never another format than its name says', async () => {
    const input = bench.folder.file('call.amr')
    await writeFile(input, Buffer.concat([Buffer.from('#!AMR\n'), amrFrames(100)]))
    const outcome = await runJob(to(input, 'x.amr'), bench.pipeline.context)
    expect(outcome.error).toMatchObject({ code: 'ERR_CONTAINER_UNKNOWN', exitCode: 2 })
  })

  it('writes the format of its name if the input has that name but another format', async () => {
    const input = bench.folder.file('loas.aac')
    await ffmpeg('-i', fixture('speech.wav'), '-c:a', 'aac', '-f', 'latm', input)
    const outcome = await runJob(to(input, 'adts.aac'), bench.pipeline.context)
    expect(outcome.event).toMatchObject({ error: null, status: 'done' })
    expect(await ffprobeJson(bench.folder.file('adts.aac'), '-show_format')).toMatchObject({
      format: { format_name: 'aac' },
    })
  })
})

/** So many frames of 20 ms of narrow-band AMR, each 4.75 kbit/s (13 bytes) of nothing. */
function amrFrames(count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => Buffer.from([0x04, ...new Array(12).fill(0)])))
}

describe('the same job again', () => {
  it('never replaces a file that is not its own, but with --force', async () => {
    const input = await bench.take('timecode.mov')
    await copyFile(fixture('text.mp4'), bench.folder.file('timecode.regen.mov'))
    const refused = await runJob(requestFor(input), bench.pipeline.context)
    expect(refused.error).toMatchObject({ code: 'ERR_OUTPUT_EXISTS', exitCode: 2 })
    expect(bench.server.calls.registerFile).toBe(0)
    const outcome = await runJob(requestFor(input, { force: true }), bench.pipeline.context)
    expect(outcome.event.status).toBe('done')
    expect((await decodedPcm(bench.folder.file('timecode.regen.mov'))).equals(await decodedPcm(input))).toBe(true)
  })

  it('leaves an output that is given as an input as it is, until it is changed or forced', async () => {
    const input = await bench.take('speech.wav')
    await runJob(requestFor(input), bench.pipeline.context)
    const own = bench.folder.file('speech.regen.wav')
    const again = await runJob(requestFor(own), bench.pipeline.context)
    expect(again).toMatchObject({ event: { status: 'skipped', input: own, output: own, error: null }, error: null })
    expect(bench.server.charges).toBe(1)
    expect(await readdir(bench.folder.path)).not.toContain('speech.regen.regen.wav')

    const { signal } = new AbortController()
    const shown: string[] = []
    const told = { event: () => {}, print: () => {}, result: () => {}, note: (text: string) => shown.push(text) }
    const around = { cwd: bench.folder.path, signal, output: told } as unknown as CommandContext
    expect(await showPlans([requestFor(own)], {}, around)).toBe(0)
    expect(shown.join()).toContain('speech.regen.wav is already an output of voxmux')

    await ffmpeg('-y', '-i', fixture('speech.wav'), '-af', 'volume=-3dB', own)
    const changed = await runJob(requestFor(own), bench.pipeline.context)
    expect(changed.event).toMatchObject({ status: 'done', output: bench.folder.file('speech.regen.regen.wav') })
  })

  it('reports no failure of its own if another process has taken it over', async () => {
    const { server, pipeline } = bench
    const { jobs } = pipeline.context
    const calls: string[] = []
    let taken: Promise<unknown> | undefined
    const outcome = await runJob(requestFor(await bench.take('speech.wav')), pipeline.context, {
      hooks: [{ name: 'witness', onFailure: ({ error }) => void calls.push(error.code) }],
      onEvent: ({ event, id, ...progress }) => {
        if (event === 'file' || !('stage' in progress) || progress.stage !== 'process') return
        server.behaviour.states = [{ status: 'Failed', errorCode: -3, progress: 40 }]
        taken ??= jobs.cancel(id, errorReport(new TransientError('ERR_OTHER', 'It is the other one.')))
      },
    })
    await taken
    expect(outcome.event.error?.code).toBe('ERR_LEASE_LOST')
    expect(calls).toEqual([])
  })

  it('at once, from two sides, is done once', async () => {
    const input = await bench.take('timecode.mov')
    const other = await openTestPipeline(bench.server, bench.folder.file('state'))
    const said: string[] = []
    const logger = { ...silentLogger, warn: (...args: readonly unknown[]) => said.push(String(args.at(-1))) }
    const outcomes = await Promise.all(
      [bench.pipeline, other].map(({ context }) => runJob(requestFor(input), { ...context, logger })),
    )
    await other.close()
    expect(said).toEqual([expect.stringMatching(/^Process \d+ on .+ is working on .+timecode\.mov\. This one waits/)])
    expect(outcomes.map(({ event }) => event.status).sort()).toEqual(['done', 'skipped'])
    expect(bench.server.charges).toBe(1)
  })
})
