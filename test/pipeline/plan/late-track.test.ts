import { expect, it } from 'vitest'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { decodedPcm, fixture, jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

// Matroska states no start of a track: only its packets have it.
it.each(['mov', 'mkv'])('sends a track of a %s that starts late without the silence before it', async (container) => {
  const input = bench.folder.file(`late.${container}`)
  const sound = ['-itsoffset', '8', '-i', fixture('speech.wav')]
  const picture = ['-f', 'lavfi', '-i', 'color=s=64x64:r=25:d=11']
  await ffmpeg(...picture, ...sound, '-c:v', 'mpeg4', '-c:a', 'pcm_s16le', input)
  const { event, receipt } = await runJob(requestFor(input), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', error: null })
  expect(receipt?.voices.map(({ startSample, paidSec }) => [startSample, paidSec])).toEqual([[7 * 48_000, 4]])
  expect((await decodedPcm(bench.folder.file(`late.regen.${container}`))).equals(await decodedPcm(input))).toBe(true)
})
