import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ffmpeg, ffprobeJson, picture, type TestFolder, testFolder } from '../../../helpers/media-factory.js'
import { bytesWriting, writtenFile } from '../../../helpers/written-file.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

/** A sound that resembles itself at no other time. */
const sweep = ['-f', 'lavfi', '-i', 'aevalsrc=0.4*sin(2*PI*t*(200+150*t))|0.3*sin(2*PI*t*(300+90*t)):s=48000:d=3']
const film = ['-c:v', 'libx264', '-g', '12', '-bf', '2', '-preset', 'ultrafast']

describe('Matroska', () => {
  it.each<readonly [string, string, boolean, readonly string[], readonly string[]]>([
    ['AAC', 'aac.mkv', true, [], ['-c:a', 'aac']],
    ['sound that starts late', 'late.mkv', true, ['-itsoffset', '0.5'], ['-c:a', 'aac']],
    ['Opus', 'opus.webm', true, [], ['-c:v', 'libvpx', '-c:a', 'libopus']],
    ['Opus alone', 'opus.mka', false, [], ['-c:a', 'libopus']],
    ['Vorbis', 'vorbis.webm', true, [], ['-c:v', 'libvpx', '-c:a', 'libvorbis']],
    ['FLAC', 'flac.mka', false, [], ['-c:a', 'flac']],
    ['MP3', 'mp3.mkv', true, [], ['-c:a', 'libmp3lame']],
    ['AC-3', 'ac3.mkv', true, [], ['-c:a', 'ac3']],
    ['no sizes', 'live.mkv', true, [], ['-c:a', 'aac', '-live', '1']],
    ['cues at the start', 'cues.mkv', true, [], ['-c:a', 'aac', '-reserve_index_space', '4096']],
  ])('replaces the packets of a file with %s, and no other structure', async (_name, name, isFilm, offset, options) => {
    const path = folder.file(name)
    const tags = ['-metadata', 'title=A title', '-metadata:s:a', 'language=deu']
    await ffmpeg(...(isFilm ? picture(3) : []), ...offset, ...sweep, ...(isFilm ? film : []), ...tags, ...options, path)
    const { plan, part, verified } = await writtenFile(path)
    const { writer } = bytesWriting(plan)
    expect(writer).toBe('matroska')
    expect(plan.losses).toEqual([])
    // Times are in ms, and the first packet of Vorbis has no sound of its own.
    const most = name === 'vorbis.webm' ? 24 : 0
    const offsets = verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)
    expect(offsets?.at(-1)).toBeDefined()
    for (const offset of offsets ?? []) expect(Math.abs(offset ?? 0)).toBeLessThanOrEqual(most)
    const [was, is] = await Promise.all([path, part].map((file) => ffprobeJson(file, '-show_format', '-show_streams')))
    const times = ({ format, streams }: Record<string, unknown>) => [
      (format as { start_time: string }).start_time,
      (streams as { start_time: string }[]).map(({ start_time }) => start_time),
    ]
    expect(times(is as Record<string, unknown>)).toEqual(times(was as Record<string, unknown>))
  })
})
