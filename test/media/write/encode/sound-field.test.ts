import { expect, it, onTestFinished } from 'vitest'
import { audioStreams } from '../../../../src/media/index.js'
import type { AudioStreamInfo } from '../../../../src/media/media-info.js'
import { readMono } from '../../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import { ffmpeg, ffprobeJson, testFolder } from '../../../helpers/media-factory.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'

/** Makes a sound field of the first order. */
async function soundField(path: string): Promise<void> {
  const sweeps = [200, 300, 400, 500].map((hertz) => `0.2*sin(2*PI*t*(${hertz}+90*t))`)
  const sound = ['-f', 'lavfi', '-i', `aevalsrc=${sweeps.join('|')}:s=48000:d=3`]
  const layout = ['-af', 'channelmap=map=0|1|2|3:channel_layout=ambisonic 1']
  await ffmpeg(...sound, ...layout, '-c:a', 'libopus', '-b:a', '256k', '-mapping_family', '2', path)
}

it('names the loss of a sound field that becomes another codec', async () => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('field.opus')
  await soundField(path)
  const media = await probe(path)
  const { losses } = await planOutput(media, { replaced: [0], container: 'flac' })
  expect(losses.map(({ what }) => what)).toContain('channel layout (ambisonic 1) of audio stream 0')
  expect((await planOutput(media, { replaced: [0] })).losses).toEqual([])
})

it.each(['opus', 'mp4', 'mka'])('keeps the sound field of Opus in .%s', async (extension) => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file(`field.${extension}`)
  await soundField(path)
  const { media, plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).not.toBe('remux')
  const { streams } = await ffprobeJson(part, '-show_streams')
  expect(streams).toMatchObject([{ codec_name: 'opus', channels: 4, channel_layout: 'ambisonic 1' }])
  const [stream] = audioStreams(media) as [AudioStreamInfo]
  const measured = await readMono(media, stream, { sampleRate: 8000, sample: 'f32' }, async (chunks) => {
    let bytes = 0
    for await (const chunk of chunks) bytes += chunk.length
    return bytes
  })
  expect(Math.abs(measured / 4 - 24_000)).toBeLessThan(400)
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(48)
})
