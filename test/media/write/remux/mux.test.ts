import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { verifyMux } from '../../../../src/media/verify/verify-mux.js'
import { mux } from '../../../../src/media/write/remux/mux.js'
import { type MuxOptions, planMux } from '../../../../src/media/write/remux/mux-plan.js'
import { ffmpeg, ffmpegOutput, ffprobeJson, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { syncOffsets } from '../../../helpers/written-file.js'

type Film = readonly [container: string, video: string, audio: string]
const FILMS: readonly Film[] = [
  ['mp4', 'mpeg4', 'aac'],
  ['mkv', 'mpeg4', 'flac'],
  ['ts', 'mpeg2video', 'aac'],
]
/** Only in the soak: the zoo has each of these containers, and asserts the same of it. */
const FURTHER_FILMS: readonly Film[] = [
  ['mov', 'mpeg4', 'pcm_s24le'],
  ['mkv', 'mpeg4', 'aac'],
  ['webm', 'libvpx', 'libopus'],
  ['mxf', 'mpeg2video', 'pcm_s24le'],
  ['m2ts', 'mpeg2video', 'ac3'],
  ['avi', 'mpeg4', 'libmp3lame'],
  ['flv', 'flv1', 'aac'],
  ['mpg', 'mpeg2video', 'mp2'],
  ['wmv', 'wmv2', 'wmav2'],
]

describe('mux and verify', () => {
  const folder = folderOfTests()

  async function remux(path: string, options: Partial<MuxOptions> = {}) {
    const media = await probe(path)
    const plan = planMux(media, { replaced: [0], ...options })
    const part = `${path}.part`
    const result = await mux(plan, new Map([[0, decodePcm(media, { audioIndex: 0 })]]), part)
    return { plan, part, verified: await verifyMux(plan, result, part, { level: 'full' }), result }
  }

  it.each(process.env.VOXMUX_SOAK ? [...FILMS, ...FURTHER_FILMS] : FILMS)(
    'keeps the picture of .%s (%s, %s) and the sound within a ms of it',
    async (extension, video, audio) => {
      const path = folder.file(`${video}-${audio}.${extension}`)
      await ffmpeg(...picture(3), ...tone(3, 48_000, 2), '-c:v', video, '-c:a', audio, path)
      const { verified, part } = await remux(path)
      const [film] = verified.streams
      expect(film?.packetHash?.output).toBe(film?.packetHash?.input)
      for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThanOrEqual(48)
      const hash = (file: string) =>
        ffmpegOutput('-i', file, '-map', '0:v', '-c', 'copy', '-f', 'streamhash', '-hash', 'sha256', 'pipe:1')
      expect(String(await hash(part))).toBe(String(await hash(path)))
    },
  )

  it.each(['aac', 'adpcm_ima_wav', 'libvorbis'])(
    'keeps the clock of %s that it copies from .avi into .avi',
    async (codec) => {
      const path = folder.file(`clock-${codec}.avi`)
      await ffmpeg(...picture(3), ...tone(3, 44_100, 2), '-c:v', 'mpeg4', '-c:a', codec, path)
      const { part } = await remux(path, { addTrack: true })
      const times = async (file: string) => {
        const { packets } = await ffprobeJson(file, '-select_streams', 'a:0', '-show_entries', 'packet=pts_time')
        return (packets as { pts_time: string }[]).map(({ pts_time }) => pts_time)
      }
      expect(await times(part)).toEqual(await times(path))
    },
  )

  it.each([
    ['shorter than', 2.51, []],
    ['longer than', 3.51, ['the last 0.510 s of audio stream 1']],
  ])('gives an .mxf sound as long as its pictures if it was %s them', async (_name, soundSec, lost) => {
    const path = folder.file(`bound-${soundSec}.mov`)
    const streams = ['-map', '0:v', '-map', '1:a', '-map', '1:a']
    await ffmpeg(...picture(3), ...tone(soundSec), ...streams, '-c:v', 'mpeg2video', '-c:a', 'pcm_s16le', path)
    const { part, plan } = await remux(path, { container: 'mxf' })
    const cut = plan.losses.filter(({ reason }) => reason.includes('pictures')).map(({ what }) => what)
    expect(cut).toEqual(['audio stream 2 (pcm_s16le)', ...lost])
    expect((await probe(part)).streams.map(({ durationSec }) => durationSec)).toEqual([3, 3])
  })

  it.each(process.env.VOXMUX_SOAK ? ['mkv', 'mp4', 'mov'] : ['mkv', 'mov'])(
    'lets what a transport stream began at any time of day begin at zero in .%s',
    async (container) => {
      const path = folder.file('clock.m2ts')
      await ffmpeg(...picture(3), ...tone(3, 48_000, 2), '-c:v', 'mpeg4', '-c:a', 'aac', '-f', 'mpegts', path)
      const { verified, part, plan } = await remux(path, { container })
      expect(plan.media.startSec).toBeGreaterThan(1)
      expect(Math.abs((await probe(part)).startSec)).toBeLessThan(0.03)
      for (const offsetSamples of syncOffsets(verified))
        expect(Math.abs(offsetSamples ?? 99)).toBeLessThanOrEqual(container === 'mkv' ? 48 : 0)
    },
  )

  const alone = [
    ['wav', 44_100],
    ...(process.env.VOXMUX_SOAK ? [['wav', 48_000] as const, ['m2ts', 48_000] as const] : []),
  ] as const
  it.each(alone)('keeps sound alone of .%s at %d Hz in its place as Opus in .webm', async (extension, rate) => {
    const path = folder.file(`alone-${rate}.${extension}`)
    await ffmpeg(...tone(3, rate, 1), path)
    const { verified } = await remux(path, { container: 'webm' })
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThanOrEqual(48)
  })

  it('gives back lossless sound bit for bit, and keeps the original beside it when asked', async () => {
    const path = folder.file('keep.mov')
    await ffmpeg(...picture(2), ...tone(2, 48_000, 2), '-c:v', 'mpeg4', '-c:a', 'pcm_s24le', path)
    const { part, plan } = await remux(path, { keepOriginal: true })
    expect(plan.streams.map(({ fate }) => fate)).toEqual(['copied', 'replaced', 'copied'])
    const sound = (file: string, map: string) => ffmpegOutput('-i', file, '-map', map, '-f', 's24le', 'pipe:1')
    const original = await sound(path, '0:a:0')
    expect((await sound(part, '0:a:0')).equals(original)).toBe(true)
    expect((await sound(part, '0:a:1')).equals(original)).toBe(true)
    expect((await probe(part)).streams[2]).toMatchObject({ dispositions: [], title: 'Original' })
  })

  it.each(process.env.VOXMUX_SOAK ? ['pcm_alaw', 'pcm_mulaw'] : ['pcm_alaw'])(
    'keeps the telephone sound of .flv as it is: %s',
    async (codec) => {
      const path = folder.file(`${codec}.flv`)
      await ffmpeg(...picture(2), ...tone(2, 8000), '-c:v', 'flv1', '-c:a', codec, path)
      const { part, plan } = await remux(path)
      expect(plan.losses).toEqual([])
      const sound = (file: string) => ffmpegOutput('-i', file, '-map', '0:a', '-c', 'copy', '-f', 'data', 'pipe:1')
      expect((await probe(part)).streams[1]).toMatchObject({ codec })
      expect((await sound(part)).equals(await sound(path))).toBe(true)
    },
  )

  it('does not move a Matroska film whose B-frames have negative decoding times', async () => {
    const path = folder.file('bframes.mkv')
    await ffmpeg(...picture(2), ...tone(2), '-c:v', 'libx264', '-bf', '2', '-c:a', 'aac', path)
    const { plan, verified } = await remux(path)
    expect(verified.output.streams[0]?.startSec).toBe(plan.media.streams[0]?.startSec)
    expect(verified.output.startSec).toBe(plan.media.startSec)
  })

  it.each(process.env.VOXMUX_SOAK ? ['aac', 'libopus', 'libmp3lame'] : ['libopus'])(
    'lays a sound alone in Matroska at its place (%s)',
    async (codec) => {
      const path = folder.file(`alone-${codec}.mkv`)
      await ffmpeg(...tone(2), '-c:a', codec, path)
      const { verified, plan } = await remux(path)
      expect(plan.losses).toEqual([])
      expect(verified.output.startSec).toBe(plan.media.startSec)
      for (const { offsetSamples } of verified.sync.flatMap(({ places }) => places))
        expect(Math.abs(offsetSamples ?? 99)).toBeLessThanOrEqual(48)
    },
  )

  it('names each loss before anything is written', async () => {
    const path = folder.file('losses.mkv')
    await ffmpeg(
      ...picture(1),
      ...tone(1),
      '-c:v',
      'mpeg4',
      '-attach',
      '/etc/hostname',
      '-metadata:s:t',
      'mimetype=text/plain',
      path,
    )
    const plan = planMux(await probe(path), { replaced: [0], container: 'mp4' })
    expect(plan.losses).toEqual([expect.objectContaining({ stream: 2, reason: '.mp4 has no attachments' })])
  })

  it('names what streams say of themselves and the target does not, and carries the rest over', async () => {
    const path = folder.file('said.mkv')
    const said = [
      '-metadata:s:a:0',
      'language=swe',
      '-metadata:s:a:0',
      'title=Kommentar',
      '-disposition:a:0',
      'original',
    ]
    await ffmpeg(...picture(1), ...tone(1), '-c:v', 'mpeg2video', '-c:a', 'aac', ...said, path)
    const losses = async (container: string) =>
      planMux(await probe(path), { replaced: [0], container }).losses.map(({ what }) => what)
    const all = [
      'language (swe) of audio stream 1',
      'title of audio stream 1',
      'disposition original of audio stream 1',
    ]
    expect(await losses('mkv')).toEqual([])
    expect(await losses('mpg')).toEqual(all)
    expect(await losses('ts')).toEqual(all.slice(1))
    expect(await losses('mov')).toEqual(all.slice(2))
    const { part } = await remux(path, { container: 'mov' })
    const { streams } = await ffprobeJson(part, '-show_streams', '-select_streams', 'a')
    expect(streams).toMatchObject([{ tags: { language: 'swe', handler_name: 'Kommentar' } }])
  })

  it('refuses an output whose sound or picture is not what was planned', async () => {
    const path = folder.file('refuse.mov')
    await ffmpeg(...picture(3), ...tone(3), '-c:v', 'mpeg4', '-c:a', 'pcm_s16le', path)
    const { plan, result } = await remux(path)
    const verify = (name: string) => verifyMux(plan, result, folder.file(name), { level: 'full' })
    await ffmpeg(
      '-i',
      path,
      '-itsoffset',
      '0.02',
      '-i',
      path,
      '-map',
      '0:v',
      '-map',
      '1:a',
      '-c',
      'copy',
      folder.file('late.mov'),
    )
    await expect(verify('late.mov')).rejects.toMatchObject({ code: 'ERR_VERIFY_FAILED', exitCode: 7 })
    await ffmpeg('-i', path, '-c:v', 'mpeg4', '-qscale', '9', '-c:a', 'copy', folder.file('picture.mov'))
    await expect(verify('picture.mov')).rejects.toThrow(/packets of video stream 0/)
    await ffmpeg('-i', path, '-map', '0:v', '-c', 'copy', folder.file('mute.mov'))
    await expect(verify('mute.mov')).rejects.toThrow(/number of streams/)
  })

  it('leaves nothing when it is stopped', async () => {
    const path = folder.file('stopped.mov')
    await ffmpeg(...picture(1), ...tone(1), '-c:v', 'mpeg4', '-c:a', 'pcm_s16le', path)
    const media = await probe(path)
    const controller = new AbortController()
    controller.abort()
    const voices = new Map([[0, decodePcm(media, { audioIndex: 0 })]])
    const part = folder.file('stopped.part')
    await expect(
      mux(planMux(media, { replaced: [0] }), voices, part, { signal: controller.signal }),
    ).rejects.toMatchObject({ exitCode: 130 })
    expect(await readdir(folder.path)).not.toContain('stopped.part')
  })
})
