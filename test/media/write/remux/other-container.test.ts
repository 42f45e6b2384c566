import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { correlate, nearestWaveformPeak } from '../../../../src/media/pcm/correlate.js'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import { readSamples } from '../../../../src/media/pcm/pcm-samples.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { planMux } from '../../../../src/media/write/remux/mux-plan.js'
import { fixture } from '../../../helpers/job-bench.js'
import { ffmpeg, ffmpegOutput, picture, tone } from '../../../helpers/media-factory.js'
import { collectPcm } from '../../../helpers/sound/pcm-buffers.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { syncOffsets, writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()
beforeAll(async () => {
  await ffmpeg(...picture(2), ...tone(2, 48_000, 2), '-c:v', 'mpeg1video', '-c:a', 'mp2', folder.file('film.mpg'))
})

it.each([
  ['theora', 'mp4'],
  ['vp9', 'mov'],
  ['hevc', 'm4v'],
  ['vp9', 'ts'],
  ['mpeg4', 'ts'],
  ['h264', 'mxf'],
  ['mpeg2video', 'flv'],
  ['mpeg4', 'flv'],
  ['vp9', '3gp'],
  ['hevc', 'avi'],
  ['prores', 'wmv'],
])('refuses to write %s into .%s, before anything is paid', async (codec, container) => {
  const media = await probe(folder.file('film.mpg'))
  const [film, ...others] = media.streams
  const shown = { ...media, streams: [{ ...film, codec }, ...others] } as typeof media
  expect(() => planMux(shown, { replaced: [0], container })).toThrow(
    expect.objectContaining({ code: 'ERR_PICTURE_LOST', message: expect.stringContaining(codec) }),
  )
})

it('makes AAC of MPEG layer 2 for .mp4, where ffmpeg takes it for layer 3', async () => {
  const { plan, verified } = await writtenFile(folder.file('film.mpg'), { container: 'mp4' })
  expect(plan.streams.map((stream) => ('encoding' in stream ? stream.encoding.codec : stream.fate))).toEqual([
    'copied',
    'aac',
  ])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(2)
})

it.each(['m4a', 'mov', 'mkv'])('writes an MP3 into .%s, whose sound begins at zero', async (container) => {
  const path = folder.file('sound.mp3')
  await ffmpeg(...tone(2), '-c:a', 'libmp3lame', path)
  const { verified, part } = await writtenFile(path, { container })
  for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
  expect((await probe(part)).startSec).toBeLessThan(0.001)
})

it.each(['wav', 'mp3', 'ogg', 'wma'])('writes the silence before late sound of a film into .%s', async (container) => {
  const path = folder.file('late.mov')
  const sound = ['-itsoffset', '0.5', ...tone(1, 48_000, 2)]
  await ffmpeg(...picture(2), ...sound, '-c:v', 'mpeg4', '-c:a', 'pcm_s16le', path)
  const { part, verified } = await writtenFile(path, { container })
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(48)
  expect((await probe(part)).durationSec).toBeCloseTo(1.5, 1)
})

it.each(['aac', 'flac', 'libopus'])('begins an .avi of a Matroska with %s with the picture', async (audio) => {
  const path = folder.file('early.mkv')
  const late = ['-itsoffset', audio === 'flac' ? '0.021' : '0']
  await ffmpeg(...late, ...picture(2), ...tone(2, 48_000, 2), '-c:v', 'mpeg4', '-c:a', audio, path)
  const { plan, part, verified } = await writtenFile(path, { container: 'avi' })
  expect(plan.losses.map(({ what }) => what).join()).toMatch(/first 0\.0\d\d s of sound, before the first picture/)
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(48)
  expect((await probe(part)).startSec).toBe(0)
})

it('gives every picture a time that leaves an MPEG program stream for .mkv', async () => {
  const path = folder.file('reordered.mpg')
  await ffmpeg(...picture(2), ...tone(2, 48_000, 2), '-c:v', 'mpeg2video', '-bf', '2', '-c:a', 'mp2', path)
  const { verified } = await writtenFile(path, { container: 'mkv' })
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(48)
})

it('plans that .mp4 begins its first chapter with the file, and lets chapters end it', async () => {
  const chapters = [500, 5000].map((start, place) => {
    return `[CHAPTER]\nTIMEBASE=1/1000\nSTART=${start}\nEND=${start + 4000}\ntitle=${place}\n`
  })
  await writeFile(folder.file('chapters.txt'), `;FFMETADATA1\n${chapters.join('')}`)
  const path = folder.file('chapters.mkv')
  await ffmpeg(...tone(2), '-i', folder.file('chapters.txt'), '-map', '0', '-map_chapters', '1', '-c:a', 'flac', path)
  const { plan } = await writtenFile(path, { container: 'mp4' })
  expect(plan.losses.map(({ what }) => what)).toContain('start of the first chapter')
})

it('keeps chapters without titles in .mp3', async () => {
  const path = folder.file('field-recorder.wav')
  await copyFile(fixture('field-recorder.wav'), path)
  const { plan, part } = await writtenFile(path, { container: 'mp3' })
  expect((await probe(part)).chapters).toEqual([expect.objectContaining({ startSec: 1 })])
  expect(plan.losses.map(({ what }) => what)).not.toContain('1 chapters')
})

it.each(['flv', 'wav'])('names the original that is to be kept, but has no room in .%s', async (container) => {
  const path = folder.file(`kept-${container}.flv`)
  await ffmpeg(...picture(1), ...tone(1, 44_100), '-c:v', 'flv', '-c:a', 'aac', path)
  const { plan, part } = await writtenFile(path, { keepOriginal: true, container })
  const lost = plan.losses.filter(({ reason }) => reason === `.${container} holds only one audio track`)
  expect(lost.map(({ what }) => what)).toEqual([expect.stringMatching(/^audio stream \d \(aac/)])
  expect((await probe(part)).streams.filter(({ kind }) => kind === 'audio')).toHaveLength(1)
})

it.each(['wav', 'mp3', 'flv'])(
  'keeps in .%s the track that gets a new voice, and no two of them',
  async (container) => {
    const path = folder.file('tracks.mkv')
    const tracks = [...tone(1, 44_100, 1), ...tone(1, 44_100, 2), '-map', '0', '-map', '1', '-map', '2']
    await ffmpeg(...picture(1), ...tracks, '-c:v', 'flv', '-c:a', 'aac', path)
    const { part, verified } = await writtenFile(path, { container, replaced: [1] })
    const sounds = (await probe(part)).streams.filter(({ kind }) => kind === 'audio')
    expect(sounds).toEqual([expect.objectContaining({ channels: 2 })])
    expect(verified.sync).toHaveLength(1)
    await expect(writtenFile(path, { container, replaced: [0, 1] })).rejects.toMatchObject({
      code: 'ERR_SEVERAL_TRACKS',
    })
  },
)

it.each([
  ['wav', 'sound'],
  ['mp3', 'sound'],
  ['ogg', 'sound'],
  ['m4a', 'sound'],
  ['flac', 'film'],
])('begins .%s with the first sample of Opus in a WebM of %s, not with its priming', async (container, kind) => {
  const path = folder.file(`${kind}.webm`)
  const shown = kind === 'film' ? [...picture(2), '-c:v', 'libvpx-vp9'] : []
  await ffmpeg(...shown, ...tone(2, 48_000, 2), '-c:a', 'libopus', path)
  const { verified, part } = await writtenFile(path, { container })
  const places = verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)
  expect(places).toEqual([0, 0, 0])
  const [before, after] = await Promise.all([path, part].map((file) => decoded(file)))
  // Players play both from their start.
  expect(correlation(before?.subarray(24_000, 48_000), after?.subarray(24_000, 48_000))).toBeGreaterThan(0.99)
})

it('writes only the sound of a film into .m4a', async () => {
  const { plan, part } = await writtenFile(folder.file('film.mpg'), { container: 'm4a' })
  expect((await probe(part)).streams.map(({ kind }) => kind)).toEqual(['audio'])
  expect(plan.losses.map(({ what }) => what)).toEqual([expect.stringContaining('video stream 0')])
})

/** Samples of the first channel at 48 kHz, as a player hears them. */
async function decoded(path: string): Promise<Float32Array> {
  const bytes = await ffmpegOutput('-i', path, '-vn', '-af', 'pan=mono|c0=c0', '-ar', '48000', '-f', 'f32le', '-')
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
}

function correlation(one: Float32Array = new Float32Array(), other: Float32Array = new Float32Array()): number {
  const product = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
  return product(one, other) / Math.sqrt(product(one, one) * product(other, other))
}

it.each([
  ['Opus of an MP4', 'stated.mp4', 'stated.mp4'],
  ['Opus of an MP4 that states no priming', 'unstated.m2ts', 'unstated.mp4'],
  ['Opus of a transport stream', 'air.m2ts', 'air.m2ts'],
  ['Opus of an Ogg', 'alone.opus', 'alone.opus'],
  ['Vorbis of an Ogg', 'alone.ogg', 'alone.ogg'],
])('keeps %s beside the new sound in .mkv', async (_, made, name) => {
  const [first, path] = [folder.file(made), folder.file(name)]
  const codec = name.endsWith('.ogg') ? 'libvorbis' : 'libopus'
  const noise = ['-f', 'lavfi', '-i', 'anoisesrc=d=4:r=48000:seed=5:a=0.3,lowpass=3000', '-c:a', codec]
  const film = name.startsWith('alone') ? noise : [...picture(4), ...noise, '-c:v', 'libx264']
  await ffmpeg(...film, first)
  if (first !== path) await ffmpeg('-i', first, '-c', 'copy', path)
  const { part, verified } = await writtenFile(path, { container: 'mkv', addTrack: true })
  expect(verified.sync[0]?.places).toHaveLength(3)
  const media = await probe(part)
  const [old, fresh] = await Promise.all(
    [0, 1].map(async (audioIndex) => {
      const range = { startSample: 48_000, endSample: 3 * 48_000 }
      const bytes = await collectPcm(decodePcm(media, { audioIndex, range, sample: 'f32' }))
      return Float64Array.from(readSamples(bytes, 'f32'))
    }),
  )
  const { lag, match } = nearestWaveformPeak(
    correlate((fresh as Float64Array).subarray(4800, -4800), old as Float64Array, 4800),
    0,
  )
  expect(match).toBeGreaterThan(0.9)
  expect(Math.abs(lag)).toBeLessThanOrEqual(48)
})

it('takes the duration of a Matroska that begins late for that of its sound alone, as mkvmerge counts', async () => {
  const path = folder.file('delayed.mkv')
  await ffmpeg('-itsoffset', '0.4', ...tone(2), '-c:a', 'ac3', path)
  const bytes = await readFile(path)
  const at = bytes.indexOf(Buffer.from([0x44, 0x89, 0x88])) + 3
  bytes.writeDoubleBE(bytes.readDoubleBE(at) - 400, at)
  await writeFile(path, bytes)
  expect((await probe(path)).durationSec).toBeCloseTo(2, 1)
  const { part } = await writtenFile(path, { addTrack: true })
  expect((await probe(part)).durationSec).toBeCloseTo(2.4, 1)
})
