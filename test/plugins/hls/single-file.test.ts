import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { regenerateHls } from 'voxmux/plugins/hls'
import { endOf } from '../../../src/media/probe/movie/box.js'
import { parseBoxes } from '../../../src/media/probe/movie/parse-boxes.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { jobBench } from '../../helpers/job-bench.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { requestFor } from '../../helpers/test-pipeline.js'
import { compareSounds, differingFiles, frameTimes, soundOf } from './package-facts.js'

const bench = jobBench()

const playlist = (...lines: readonly string[]) => ['#EXTM3U', '#EXT-X-VERSION:6', ...lines, ''].join('\r\n')
const typesIn = async (name: string) =>
  parseBoxes(await readFile(bench.folder.file(name)), 0, '').map(({ type }) => type)

/** A rendition as Shaka Packager lays it out: one file with its index in front, two fragments a segment. */
async function makeRendition(name: string, ...input: readonly string[]): Promise<void> {
  const path = bench.folder.file(`in/${name}.mp4`)
  await ffmpeg(...input, '-movflags', '+dash+global_sidx', '-frag_duration', '1000000', '-f', 'mp4', path)
  const boxes = parseBoxes(await readFile(path), 0, '')
  const starts = boxes.filter(({ type }) => type === 'moof').map(({ start }) => start)
  const last = boxes.findLast(({ type }) => type === 'mdat')
  const end = last ? endOf(last) : 0
  const segments = starts.flatMap((start, index) =>
    index % 2 === 0 ? [[start, starts[index + 2] ?? end] as const] : [],
  )
  const init = boxes.find(({ type }) => type === 'sidx')?.start
  await writeFile(
    bench.folder.file(`in/${name}.m3u8`),
    playlist(
      ...['#EXT-X-TARGETDURATION:2', '#EXT-X-PLAYLIST-TYPE:VOD', '#EXT-X-KEY:METHOD=NONE'],
      `#EXT-X-MAP:URI="${name}.mp4",BYTERANGE="${init}@0"`,
      // Only the first says where it begins: the others follow on.
      ...segments.flatMap(([start, next], index) => {
        const range = `#EXT-X-BYTERANGE:${next - start}${index === 0 ? `@${start}` : ''}`
        return ['#EXTINF:2,', range, `${name}.mp4`]
      }),
      '#EXT-X-ENDLIST',
    ),
  )
}

describe('a package of one indexed file a rendition', () => {
  it('with subtitles, pictures to seek by and ends of line of Windows keeps all but the sound', async () => {
    await mkdir(bench.folder.file('in'))
    await makeRendition('sound', ...tone(4, 48_000, 2), '-c:a', 'aac', '-b:a', '96k')
    await makeRendition('picture', ...picture(4), '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25')
    const text = {
      'words.vtt': 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n',
      'words.m3u8': playlist('#EXT-X-TARGETDURATION:4', '#EXTINF:4,', 'words.vtt', '#EXT-X-ENDLIST'),
      'seek.m3u8': playlist(
        ...['#EXT-X-TARGETDURATION:4', '#EXT-X-I-FRAMES-ONLY', '#EXT-X-MAP:URI="picture.mp4",BYTERANGE="800@0"'],
        ...['#EXTINF:4,', '#EXT-X-BYTERANGE:500@1000', 'picture.mp4', '#EXT-X-ENDLIST'],
      ),
      'title.json': '{}',
      'master.m3u8': playlist(
        '#EXT-X-SESSION-DATA:DATA-ID="title",URI="title.json"',
        '#EXT-X-MEDIA:TYPE=AUDIO,URI="sound.m3u8",GROUP-ID="a",LANGUAGE="en",NAME="stream_0",DEFAULT=YES,CHANNELS="2"',
        '#EXT-X-MEDIA:TYPE=SUBTITLES,URI="words.m3u8",GROUP-ID="t",LANGUAGE="en",NAME="stream_1"',
        '#EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=64x48,AUDIO="a",SUBTITLES="t"',
        'picture.m3u8',
        '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1000,CODECS="avc1.42c00a",URI="seek.m3u8"',
      ),
    }
    for (const [name, content] of Object.entries(text)) await writeFile(bench.folder.file(`in/${name}`), content)
    bench.answerWith('-af', 'volume=0.5')
    await regenerateHls(bench.folder.file('in/master.m3u8'), bench.folder.file('out'), {
      regenerate: async (input, output) => {
        const { error } = await runJob(requestFor(input, { output }), bench.pipeline.context).then(({ event }) => event)
        expect(error).toBeNull()
      },
    })
    const changed = differingFiles(bench.folder.file('in/master.m3u8'), bench.folder.file('out/master.m3u8'))
    expect(changed.filter((name) => name !== 'master.m3u8').sort()).toEqual(['sound.m3u8', 'sound.mp4'])
    const raised = (await readFile(bench.folder.file('out/master.m3u8'), 'utf8')).replace(
      /BANDWIDTH=9\d{5}/,
      'BANDWIDTH=900000',
    )
    expect(raised).toBe(text['master.m3u8'])
    const [old, fresh] = ['in', 'out'].map((side) => bench.folder.file(`${side}/sound.m3u8`)) as [string, string]
    expect(await frameTimes(fresh)).toEqual(await frameTimes(old))
    const { lagSamples, gain } = compareSounds(await soundOf(old), await soundOf(fresh))
    expect([lagSamples, Math.round(gain * 10)]).toEqual([0, 5])
    // What said where the old fragments lay says nothing any more, and nothing has moved by it.
    const types = (side: string) => typesIn(`${side}/sound.mp4`)
    expect(await types('in')).toEqual(expect.arrayContaining(['sidx', 'mfra']))
    expect(await types('out')).toEqual((await types('in')).map((type) => (/sidx|mfra/.test(type) ? 'free' : type)))
  })
})
