import { expect, it } from 'vitest'
import { audioStreams } from '../../../src/media/index.js'
import { probe } from '../../../src/media/probe/probe.js'
import { judge } from '../../../src/pipeline/plan/judge.js'
import { planTracks } from '../../../src/pipeline/plan/plan-tracks.js'
import { fixture } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'

it('finds no length of a track that states no sample rate', async () => {
  const media = await probe(fixture('speech.wav'))
  const streams = audioStreams(media).map((stream) => ({ ...stream, sampleRate: 0 }))
  const { settings } = requestFor(media.path)
  const found = judge({ ...media, streams }, planTracks({ ...media, streams }, settings, {}), settings, {})
  expect(found.asSent.map(({ errorCode }) => errorCode)).toEqual([-2])
})
