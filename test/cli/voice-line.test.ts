import { describe, expect, it } from 'vitest'
import { voiceLine } from '../../src/cli/show/voice-line.js'
import { checkFile } from '../../src/pipeline/job/check-file.js'
import { fixture } from '../helpers/job-bench.js'
import { ffmpeg, testFolder } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

describe('the line of blocks', () => {
  it('shows the noise around a voice, second by second', () => {
    const map = { voicedSec: 3, voice: [0, 0.9, 0.9, 0.9, 0], noise: [0, 0, 0.5, 1, 1], music: [] }
    expect(voiceLine(map, 3, 5)).toBe('·▁▅█·  noise around a voice in 0:03.000')
    // The last second of a file is rarely whole.
    const toTheEnd = { ...map, voice: [1, 1, 1, 1, 1] }
    expect(voiceLine(toTheEnd, 3, 4.5)).toContain('noise around a voice in 0:02.500')
  })

  it('has at most 60 cells, each as noisy as its worst second', () => {
    const noise = new Array(150).fill(0)
    noise[149] = 1
    const line = voiceLine({ voicedSec: 150, voice: new Array(150).fill(1), noise, music: [] }, 3, 150)
    expect(line).toBe(`${'▁'.repeat(49)}█  noise around a voice in 0:01.000`)
  })
})

it('check maps a file that would be sent, and none that is refused', async () => {
  const { settings } = requestFor('/x.wav')
  const { signal } = new AbortController()
  const [sent, refused] = await Promise.all(
    ['speech.wav', 'no-audio.mp4'].map((name) =>
      checkFile(fixture(name), settings, { limits: {}, isEmbedded: false }, signal),
    ),
  )
  expect(sent?.file.map?.voice).toHaveLength(3)
  expect(sent?.file.map?.noise).toHaveLength(3)
  expect(refused?.file.map).toBeNull()
})

it('check finds a voice that the mean of the channels cancels', async () => {
  const folder = await testFolder()
  const path = folder.file('opposed.wav')
  await ffmpeg('-i', fixture('speech.wav'), '-af', 'aformat=channel_layouts=mono,pan=stereo|c0=c0|c1=-1*c0', path)
  const { settings } = requestFor(path)
  const { file } = await checkFile(path, settings, { limits: {}, isEmbedded: true }, new AbortController().signal)
  expect(file).toMatchObject({ status: 'done', map: { voicedSec: 0 } })
  await folder.remove()
})
