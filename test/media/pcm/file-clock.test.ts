import { expect, it } from 'vitest'
import { fileClock } from '../../../src/media/pcm/file-clock.js'

it('takes the times within a block of RealMedia for rounding', () => {
  const stream = { codec: 'cook', channels: 2, sampleRate: 44_100, timeBase: '1/1000', startSec: 0 }
  const { jitterSec } = fileClock({ formatName: 'rm', startSec: 0 }, stream)
  // ffmpeg counts 23 ms for each of the 112 frames of 1024 samples.
  expect(jitterSec).toBeGreaterThan(112 * (1024 / 44_100 - 0.023))
})
