import { readdir, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { decodedPcm, fixture, jobBench } from '../helpers/job-bench.js'
import { ffmpeg } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { withProductionChunks } from '../media/zoo/zoo-bytes.js'
import { factOf } from '../media/zoo/zoo-judge.js'

const bench = jobBench()

/** The channels of a file, each as raw PCM. */
async function channelsOf(path: string, channels: number): Promise<readonly Buffer[]> {
  const pcm = await decodedPcm(path)
  return Array.from({ length: channels }, (_, channel) => {
    const own = Buffer.alloc(pcm.length / channels)
    for (let at = 0; at < own.length; at += 4)
      pcm.copy(own, at, at * channels + 4 * channel, at * channels + 4 * channel + 4)
    return own
  })
}

/** What came back equal, channel by channel. */
async function sameChannels(one: string, other: string, channels: number): Promise<readonly boolean[]> {
  const [before, after] = [await channelsOf(one, channels), await channelsOf(other, channels)]
  return before.map((pcm, channel) => pcm.equals(after[channel] as Buffer))
}

/** Four channels as a recorder writes them: boom, two lavaliers (one of them off), and a quiet room. */
async function polyphonic(): Promise<string> {
  const path = bench.folder.file('12A-3.wav')
  await ffmpeg(
    ...['-i', fixture('field-recorder.wav'), '-f', 'lavfi', '-i', 'anoisesrc=a=0.00003:r=48000:d=3'],
    '-filter_complex',
    '[0:a]apad=pad_dur=1,aformat=sample_fmts=s32:channel_layouts=mono,asplit=3[a][b][c];[b]volume=0.5[b2];[c]volume=0[c2];[1:a]aformat=sample_fmts=s32:channel_layouts=mono[d];[a][b2][c2][d]join=inputs=4:channel_layout=4.0:map=0.0-FL|1.0-FR|2.0-FC|3.0-BC[out]',
    ...['-map', '[out]', '-map_metadata', '0', '-write_bext', '1', '-t', '2', '-c:a', 'pcm_s24le', path],
  )
  await writeFile(path, withProductionChunks(await readFile(path), ['Boom', 'Anna', 'Ben', 'Plant']))
  return path
}

it.each(['center', 'each'] as const)('--channels %s takes mono as it is, and measures it', async (channels) => {
  const input = await bench.take('speech.wav')
  bench.answerWith('-af', 'volume=0.5')
  const { receipt } = await runJob(requestFor(input, { recipe: { channels } }), bench.pipeline.context)
  const { before, after } = receipt?.tracks[0]?.loudness ?? {}
  expect(before?.integratedLufs).toBeCloseTo((after?.integratedLufs ?? 0) + 20 * Math.log10(2), 1)
})

describe('--channels each', () => {
  it('sends a file for each channel in which there is anything, leaves the silent ones, and keeps names and marks', async () => {
    const input = await polyphonic()
    bench.answerWith('-af', 'volume=0.5')
    const { event, receipt } = await runJob(requestFor(input, { recipe: { channels: 'each' } }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(receipt?.voices.map(({ channel }) => channel)).toEqual([0, 1])
    expect(bench.server.files.map(({ clientFileId }) => clientFileId).sort()).toEqual([
      '12A-3 channel 0 0:00.000-0:02.000.flac',
      '12A-3 channel 1 0:00.000-0:02.000.flac',
    ])
    expect(receipt?.notes).toEqual([
      'Channel 2 of audio track 0 is silent, so it was not sent and is unchanged.',
      'Channel 3 of audio track 0 is silent, so it was not sent and is unchanged.',
    ])
    const output = bench.folder.file('12A-3.regen.wav')
    expect(await sameChannels(input, output, 4)).toEqual([false, false, true, true])
    expect(bench.server.charges).toBe(2)
    const chunks = await factOf('production chunks', input)
    expect(JSON.stringify(chunks)).toContain('<NAME>Anna</NAME>')
    expect(await factOf('production chunks', output)).toEqual(chunks)
    expect(await factOf('bext', output)).toEqual(await factOf('bext', input))
  })

  it.each([
    ['leaves a channel as it is in which the service finds no voice', ['channel 1'], 'done', null],
    ['ends as any other file where it finds none in any', ['channel 0', 'channel 1'], 'failed', -3],
  ] as const)('%s', async (_, voiceless, status, errorCode) => {
    const input = await polyphonic()
    bench.answerWith('-af', 'volume=0.5')
    bench.server.behaviour.states = []
    const regenerate = bench.server.behaviour.regenerate
    bench.server.behaviour.regenerate = (path, asked) => {
      const file = bench.server.files.find(({ id }) => id === asked.fileId)
      const isVoiceless = voiceless.some((name) => file?.clientFileId.includes(name))
      if (file && isVoiceless) file.failed = { status: 'Failed', errorCode: -3, progress: 0 }
      return isVoiceless ? path : regenerate(path, asked)
    }
    const { event, receipt } = await runJob(requestFor(input, { recipe: { channels: 'each' } }), bench.pipeline.context)
    expect([event.status, event.error?.errorCode ?? null]).toEqual([status, errorCode])
    if (status === 'failed') return
    expect(receipt?.notes.join()).toContain('The service found no voice in channel 1 of audio track 0')
    expect(await sameChannels(input, bench.folder.file('12A-3.regen.wav'), 4)).toEqual([false, true, true, true])
  })

  it('refuses a file in which all is silent, and sends nothing', async () => {
    const input = await bench.take('silence.wav')
    const { error } = await runJob(requestFor(input, { recipe: { channels: 'each' } }), bench.pipeline.context)
    expect(error).toMatchObject({ errorCode: -3, exitCode: 5 })
    expect(bench.server.calls.registerFile).toBe(0)
    expect(await readdir(bench.folder.path)).not.toContain('silence.regen.wav')
  })
})

describe('--channels center', () => {
  const layouts: readonly (readonly [layout: string, channels: number, names: string])[] = [
    ['5.1', 6, 'FL+FR+FC+LFE+BL+BR'],
    ...(process.env.VOXMUX_SOAK ? [['7.1', 8, 'FL+FR+FC+LFE+BL+BR+SL+SR'] as const] : []),
  ]
  it.each(layouts)(
    'sends the dialogue of %s alone: every other channel is the same to the bit',
    async (layout, channels, names) => {
      const input = bench.folder.file('mix.wav')
      const tones = names
        .split('+')
        .map((_, index) => (index === 2 ? '0' : `0.2*sin(${index + 2}00*t)`))
        .join('|')
      await ffmpeg(
        ...['-i', fixture('speech.wav'), '-f', 'lavfi', '-i', `aevalsrc=${tones}:s=48000:c=${layout}:d=2`],
        '-filter_complex',
        `[0:a]pan=${layout}|FC=c0[voice];[voice][1:a]amix=inputs=2:normalize=0:duration=shortest[out]`,
        ...['-map', '[out]', '-c:a', 'pcm_s24le', input],
      )
      bench.answerWith('-af', 'volume=0.5')
      const { event, receipt } = await runJob(
        requestFor(input, { recipe: { channels: 'center' } }),
        bench.pipeline.context,
      )
      expect(event).toMatchObject({ status: 'done', error: null })
      expect(receipt?.voices).toEqual([expect.objectContaining({ channel: 2, lagSamples: 0 })])
      const same = await sameChannels(input, bench.folder.file('mix.regen.wav'), channels)
      expect(same).toEqual(Array.from({ length: channels }, (_, channel) => channel !== 2))
    },
  )
})

describe('--track all', () => {
  // In short it keeps the originals as well, in tracks-and-channels.test.ts.
  it.runIf(process.env.VOXMUX_SOAK)(
    'makes every track its own job, and all are muxed back (only in the soak)',
    async () => {
      const input = await bench.take('two-tracks.mkv')
      const { event, receipt } = await runJob(
        requestFor(input, { recipe: { track: 'all' }, segments: [{ startSec: 0.5, endSec: 1.5 }] }),
        bench.pipeline.context,
      )
      expect(event).toMatchObject({ status: 'done', error: null })
      expect(receipt?.voices.map(({ audioIndex }) => audioIndex)).toEqual([0, 1])
      expect(receipt?.streams.filter(({ kind }) => kind === 'audio').map(({ fate }) => fate)).toEqual([
        'replaced',
        'replaced',
      ])
      // The second one is FLAC: an answer that is what was sent gives back every sample.
      const both = [input, bench.folder.file('two-tracks.regen.mkv')].map((path) => decodedPcm(path, 1))
      const [before, after] = await Promise.all(both)
      expect(after?.equals(before as Buffer)).toBe(true)
    },
  )
})
