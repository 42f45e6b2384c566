import { expect, it } from 'vitest'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { decodedPcm, fixture, jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

async function lateTrack(container: string): Promise<string> {
  const input = bench.folder.file(`late.${container}`)
  const sound = ['-itsoffset', '8', '-i', fixture('speech.wav')]
  const picture = ['-f', 'lavfi', '-i', 'color=s=64x64:r=25:d=11']
  await ffmpeg(...picture, ...sound, '-c:v', 'mpeg4', '-c:a', 'pcm_s16le', input)
  return input
}

// Matroska states no start of a track: only its packets have it.
it.each(['mov', 'mkv'])('sends a track of a %s that starts late without the silence before it', async (container) => {
  const input = await lateTrack(container)
  const { event, receipt } = await runJob(requestFor(input), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', error: null })
  expect(receipt?.voices.map(({ startSample, paidSec }) => [startSample, paidSec])).toEqual([[7 * 48_000, 4]])
  expect((await decodedPcm(bench.folder.file(`late.regen.${container}`))).equals(await decodedPcm(input))).toBe(true)
})

it.each(['mov', 'mkv'])('refuses a part of a %s that has only the silence before its track', async (container) => {
  const input = await lateTrack(container)
  const segments = [
    { startSec: 2, endSec: 7.9 },
    { startSec: 9, endSec: 10 },
  ]
  const { error } = await runJob(requestFor(input, { segments }), bench.pipeline.context)
  expect(error).toMatchObject({ code: 'ERR_SEGMENT_OUTSIDE', exitCode: 2 })
  expect(error?.message).toContain('The segment at 0:02.000 ends before the sound of audio track 0')
  expect(bench.server.calls.registerFile).toBe(0)
})
