import { expect, it } from 'vitest'
import { audioStreams } from '../../../src/media/index.js'
import { ffmpeg, testFolder } from '../../helpers/media-factory.js'
import { writtenFile } from '../../helpers/written-file.js'

it.each([
  ['ts', 'aac'],
  ['mpg', 'mp2'],
])('finds sound that begins 25 s after the picture of a .%s', async (kind, codec) => {
  const folder = await testFolder()
  const path = folder.file(`late.${kind}`)
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=25:d=32']
  const noise = ['-itsoffset', '25', '-f', 'lavfi', '-i', 'anoisesrc=d=7:a=0.3:seed=7:r=48000,lowpass=3000']
  await ffmpeg(...picture, ...noise, '-c:v', 'mpeg2video', '-c:a', codec, path)
  const { media, verified } = await writtenFile(path)
  expect(audioStreams(media)).toMatchObject([{ sampleRate: 48_000, channels: 1 }])
  const offsets = verified.sync[0]?.places.flatMap(({ offsetSamples }) => offsetSamples ?? []) ?? []
  expect(offsets.length).toBeGreaterThan(0)
  for (const offset of offsets) expect(Math.abs(offset)).toBeLessThan(5)
  await folder.remove()
})
