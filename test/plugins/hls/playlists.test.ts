import { describe, expect, it } from 'vitest'
import { parseMaster, parseMedia } from '../../../plugins/hls/playlist.js'
import { rewriteMaster } from '../../../plugins/hls/rewrite-master.js'

describe('a media playlist', () => {
  it('is read with its ranges, init sections and discontinuities', () => {
    const text = [
      '#EXTM3U',
      '#EXT-X-MAP:URI="a.mp4",BYTERANGE="10@0"',
      '#EXTINF:2.5,title, with a comma',
      '#EXT-X-BYTERANGE:100@10',
      'a.mp4',
      '#EXTINF:2,',
      '#EXT-X-BYTERANGE:50',
      'a.mp4',
      '#EXT-X-DISCONTINUITY',
      '#EXT-X-MAP:URI="b.mp4"',
      '#EXTINF:1',
      'b.m4s',
      '#EXT-X-ENDLIST',
    ].join('\r\n')
    expect(parseMedia(text, 'x').segments).toMatchObject([
      { uri: 'a.mp4', range: { offset: 10, length: 100 }, durationSec: 2.5, run: 0, map: { range: { length: 10 } } },
      { uri: 'a.mp4', range: { offset: 110, length: 50 }, durationSec: 2, run: 0 },
      { uri: 'b.m4s', range: null, durationSec: 1, run: 1, map: { uri: 'b.mp4', range: null } },
    ])
  })
})

describe('a master playlist', () => {
  it.each([
    ['letters without a value', `#EXT-X-MEDIA:${'A'.repeat(900_000)}`],
    ['values in one another', `#EXT-X-MEDIA:${'A='.repeat(450_000)}"`],
    ['blanks before a quote', `#EXT-X-MEDIA:A=${' '.repeat(900_000)}"`],
  ])('is read once, however long its attributes are: %s', (_, line) => {
    expect(parseMaster(`#EXTM3U\n${line}\n`, 'master.m3u8').entries[0]?.uri).toBeNull()
  })

  it('reads its lines once, however many variants have no address', () => {
    const text = `#EXTM3U\n${'#EXT-X-STREAM-INF:\n'.repeat(300_000)}one.m3u8\n`
    expect(() => parseMaster(text, 'master.m3u8')).toThrow(/without its address/)
  })

  it('reads attributes with blanks around them, and behind one of another form', () => {
    const text = '#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO, NAME="a, b" ,LANGUAGE"de",URI="de.m3u8"\n'
    const [entry] = parseMaster(text, 'master.m3u8').entries
    expect([...(entry?.attributes ?? [])]).toEqual([
      ['TYPE', 'AUDIO'],
      ['NAME', 'a, b'],
      ['URI', 'de.m3u8'],
    ])
  })

  it('promises more bandwidth where the new sound spends more, and never less', () => {
    const text = [
      '#EXTM3U',
      '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English, loud",URI="eng.m3u8"',
      '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Deutsch",URI="deu.m3u8"',
      '#EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=900,BANDWIDTH=1000,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="a"',
      'one.m3u8',
      '#EXT-X-STREAM-INF:BANDWIDTH=2000,AUDIO="b"',
      'two.m3u8',
    ].join('\n')
    const masterPlaylist = parseMaster(text, 'master.m3u8')
    const rewritten = (path: string, before: number, after: number) => ({
      ...{
        rendition: {
          ...{ path, name: path, language: null, programme: '', group: null },
          playlist: { lines: [], segments: [] },
        },
        lines: [],
        files: [],
      },
      ...{ frameCount: 1, durationSec: 1, isShared: false },
      ...{ before: { peak: before, mean: before }, after: { peak: after, mean: after } },
    })
    const source = { master: 'master.m3u8', masterPlaylist, renditions: [], playlists: [], media: new Map() }
    const items = [rewritten('eng.m3u8', 100, 130.2), rewritten('deu.m3u8', 100, 80)]
    const lines = rewriteMaster(source, items, (uri) => uri)
    expect(lines[3]).toContain('AVERAGE-BANDWIDTH=931,BANDWIDTH=1031,')
    expect(lines.filter((_, place) => place !== 3)).toEqual(text.split('\n').filter((_, place) => place !== 3))
  })
})
