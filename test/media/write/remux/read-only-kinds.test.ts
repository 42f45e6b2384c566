import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { syncOffsets, writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()

it.each([
  ['voc', ['-c:a', 'pcm_s16le'], 'pcm_s16le'],
  ['loas', ['-c:a', 'aac', '-f', 'latm'], 'aac_latm'],
  ['rm', ['-c:a', 'real_144', '-ar', '8000', '-ac', '1'], 'ra_144'],
])('the sound of a .%s goes into a container that ffmpeg writes', async (kind, options, codec) => {
  const path = folder.file(`sound.${kind}`)
  await ffmpeg(...tone(3), ...options, path)
  const { media, plan, verified } = await writtenFile(path)
  expect(media).toMatchObject({ container: kind, streams: [{ codec }] })
  expect(plan.container).toBe('mkv')
  // ffmpeg reads only the first 20 ms of the .rm that it writes.
  if (kind === 'rm') return
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(8)
})

it('refuses a RealMedia film, whose pictures no other container takes', async () => {
  const path = folder.file('film.rm')
  await ffmpeg(...picture(1), ...tone(1, 8000), '-c:v', 'rv10', '-s', '176x144', '-c:a', 'real_144', path)
  await expect(probe(path)).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_CONTAINER', errorCode: -16, exitCode: 5 })
})

it('saves Speex in Ogg in another format', async () => {
  const path = folder.file('speex.ogg')
  await ffmpeg(...tone(3), '-c:a', 'libspeex', path)
  const { verified } = await writtenFile(path, { container: 'flac', audioCodec: 'flac' })
  expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
})

it('keeps the 6 channels of DTS on a DVD, as AC-3', async () => {
  const path = folder.file('film.vob')
  const sound = ['-c:a', 'dca', '-strict', '-2', '-ac', '6', '-ar', '48000']
  await ffmpeg(...picture(2), ...tone(2), '-c:v', 'mpeg2video', ...sound, path)
  const { verified } = await writtenFile(path)
  expect(verified.output.streams.filter((stream) => stream.kind === 'audio')).toMatchObject([
    { codec: 'ac3', channels: 6 },
  ])
})

it.each([
  ['aac', 'ts'],
  ['aac', 'mkv'],
  ['opus', 'mkv'],
])('names the channels of DTS that becomes %s in .%s so that players know their places', async (codec, kind) => {
  const path = folder.file(`surround.${kind}`)
  await ffmpeg(...tone(2), '-c:a', 'dca', '-strict', '-2', '-ac', '6', '-ar', '48000', path)
  const { media, verified } = await writtenFile(path, { fallbackCodec: codec })
  expect(media.streams).toMatchObject([{ channelLayout: '5.1(side)' }])
  expect(verified.output.streams).toMatchObject([{ codec, channels: 6, channelLayout: '5.1' }])
})

it('keeps TrueHD of M2TS as PCM if the AC-3 that ffmpeg expects beside it is missing', async () => {
  const path = folder.file('truehd.m2ts')
  // The blocks of PCM are 7.5 ms long, so the last one is filled up.
  await ffmpeg(...tone(2.002, 48_000, 2), '-c:a', 'truehd', '-strict', '-2', '-mpegts_m2ts_mode', '1', path)
  const { plan, verified } = await writtenFile(path)
  expect(plan.streams).toMatchObject([{ fate: 'replaced', encoding: { codec: 'pcm_bluray' } }])
  expect(syncOffsets(verified)).toEqual([0, 0, 0])
})
