import { expect, it, onTestFinished } from 'vitest'
import { ffmpeg, ffprobeJson, testFolder } from '../../../helpers/media-factory.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'

it.each(['opus', 'mp4', 'mka'])('keeps the sound field of Opus in .%s', async (extension) => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file(`field.${extension}`)
  const sweeps = [200, 300, 400, 500].map((hertz) => `0.2*sin(2*PI*t*(${hertz}+90*t))`)
  const sound = ['-f', 'lavfi', '-i', `aevalsrc=${sweeps.join('|')}:s=48000:d=3`]
  const layout = ['-af', 'channelmap=map=0|1|2|3:channel_layout=ambisonic 1']
  await ffmpeg(...sound, ...layout, '-c:a', 'libopus', '-b:a', '256k', '-mapping_family', '2', path)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).not.toBe('remux')
  const { streams } = await ffprobeJson(part, '-show_streams')
  expect(streams).toMatchObject([{ codec_name: 'opus', channels: 4, channel_layout: 'ambisonic 1' }])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(48)
})
