import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { copyFile, cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { regenerateHls } from 'voxmux/plugins/hls'
import { ffmpeg, type TestFolder, testFolder, tone } from '../../helpers/media-factory.js'
import { makePackage } from './made-package.js'

let folder: TestFolder
let whole: string

beforeAll(async () => {
  folder = await testFolder()
  whole = dirname(await makePackage(folder.file('whole'), { type: 'fmp4', durationSec: 2, segmentSec: 1 }))
})
afterAll(() => folder.remove())

/** Replaces text of a playlist. */
const edit = (path: string, change: (text: string) => string) => writeFileSync(path, change(readFileSync(path, 'utf8')))
const inEnglish = (change: (text: string) => string) => (root: string) => edit(join(root, 'eng/stream.m3u8'), change)
const inMaster = (change: (text: string) => string) => (root: string) => edit(join(root, 'master.m3u8'), change)
const cutOff = (segment: string) => (root: string) =>
  writeFileSync(join(root, segment), readFileSync(join(root, segment)).subarray(0, 900))
const firstSegment = (name: string) => inEnglish((text) => text.replace('part000.m4s', name))

const REFUSALS: readonly (readonly [string, string, (root: string) => unknown])[] = [
  ['an address elsewhere', 'ERR_HLS_OUTSIDE', firstSegment('https://example.com/part000.m4s')],
  ['an address of another host', 'ERR_HLS_OUTSIDE', firstSegment('//example.com/part000.m4s')],
  ['an absolute path', 'ERR_HLS_OUTSIDE', firstSegment('/etc/passwd')],
  ['a way out', 'ERR_HLS_OUTSIDE', firstSegment('../../secret.m4s')],
  ['a way out, encoded', 'ERR_HLS_OUTSIDE', firstSegment('%2e%2e/%2e%2e/secret.m4s')],
  ['a backslash', 'ERR_HLS_OUTSIDE', firstSegment('..\\..\\secret.m4s')],
  ['a variable', 'ERR_HLS_OUTSIDE', firstSegment('{$where}/part000.m4s')],
  ['a file: address in a tag', 'ERR_HLS_OUTSIDE', inEnglish((text) => text.replace('URI="init', 'URI="file:init'))],
  [
    'a link that leads out',
    'ERR_HLS_OUTSIDE',
    (root) => {
      unlinkSync(join(root, 'eng/part000.m4s'))
      symlinkSync('/etc/passwd', join(root, 'eng/part000.m4s'))
    },
  ],
  ['a segment that is missing', 'ERR_HLS_FILE_MISSING', (root) => unlinkSync(join(root, 'eng/part001.m4s'))],
  [
    'encrypted sound',
    'ERR_HLS_ENCRYPTED',
    inEnglish((text) => text.replace('#EXTINF', '#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXTINF')),
  ],
  [
    'encrypted pictures',
    'ERR_HLS_ENCRYPTED',
    (root) =>
      edit(join(root, 'large/stream.m3u8'), (text) =>
        text.replace('#EXTINF', '#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXTINF'),
      ),
  ],
  ['a session key', 'ERR_HLS_ENCRYPTED', inMaster((text) => `${text}\n#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="k"\n`)],
  ['a stream that goes on', 'ERR_HLS_NOT_FINISHED', inEnglish((text) => text.replace('#EXT-X-ENDLIST', ''))],
  [
    'sound in the segments of pictures',
    'ERR_HLS_MUXED_AUDIO',
    inMaster((text) => text.replaceAll(',AUDIO="group_sound"', '')),
  ],
  [
    'a rendition without an address',
    'ERR_HLS_MUXED_AUDIO',
    inMaster((text) => text.replace(',URI="eng/stream.m3u8"', '')),
  ],
  ['no master', 'ERR_HLS_PLAYLIST', (root) => copyFile(join(root, 'eng/stream.m3u8'), join(root, 'master.m3u8'))],
  ['what is no playlist', 'ERR_HLS_PLAYLIST', inEnglish((text) => text.replace('#EXTM3U', 'EXTM3U'))],
  [
    'segments that two playlists share',
    'ERR_HLS_PLAYLIST',
    async (root) => {
      await copyFile(join(root, 'eng/stream.m3u8'), join(root, 'eng/again.m3u8'))
      inMaster((text) => text.replace('deu/stream.m3u8', 'eng/again.m3u8'))(root)
    },
  ],
  ['a segment that is named twice', 'ERR_HLS_PLAYLIST', inEnglish((text) => text.replace('part001', 'part000'))],
  ['a segment that is cut off', 'ERR_HLS_SEGMENT', cutOff('eng/part000.m4s')],
  [
    'a segment that is none',
    'ERR_HLS_SEGMENT',
    (root) => {
      inEnglish((text) => text.replace(/#EXT-X-MAP.*\n/, ''))(root)
      writeFileSync(join(root, 'eng/part000.m4s'), 'no media at all')
    },
  ],
  // Of what comes second, nothing may be found when the first is paid for.
  ['no space for the pictures', 'ERR_DISK_FULL', (root) => truncateSync(join(root, 'large/part000.m4s'), 2 ** 43)],
  ['a segment of the other language that is cut off', 'ERR_HLS_SEGMENT', cutOff('deu/part001.m4s')],
  [
    'damaged frames at the end of the other language',
    'ERR_HLS_SEGMENT',
    (root) => {
      const path = join(root, 'deu/part001.m4s')
      const bytes = readFileSync(path)
      writeFileSync(path, bytes.fill(0xff, bytes.indexOf('mdat') + 4 + 400))
    },
  ],
  [
    'a segment of pictures that is missing',
    'ERR_HLS_FILE_MISSING',
    (root) => unlinkSync(join(root, 'small/part001.m4s')),
  ],
  [
    'another codec in the other language',
    'ERR_HLS_CODEC',
    (root) => {
      const options = ['-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', 'ac3.mp4']
      return ffmpeg(...tone(2), '-c:a', 'ac3', '-f', 'hls', ...options, join(root, 'deu/stream.m3u8'))
    },
  ],
  [
    'another codec',
    'ERR_HLS_CODEC',
    async (root) => {
      const eng = join(root, 'eng')
      await mkdir(eng, { recursive: true })
      const options = ['-hls_playlist_type', 'vod', '-hls_segment_type', 'mpegts']
      await ffmpeg(...tone(2), '-c:a', 'mp2', '-f', 'hls', ...options, join(eng, 'stream.m3u8'))
    },
  ],
]

describe('a package is refused, with a reason, and nothing appears, where there is', () => {
  it.each(REFUSALS)('%s', async (name, code, spoil) => {
    const root = folder.file(name.replaceAll(/\W/g, '-'))
    await cp(whole, root, { recursive: true })
    await spoil(root)
    mkdirSync(join(root, 'out'))
    let sent = 0
    const regenerate = async () => {
      sent += 1
    }
    const refusal = regenerateHls(join(root, 'master.m3u8'), join(root, 'out'), { regenerate })
    await expect(refusal).rejects.toMatchObject({ code, input: expect.any(String) })
    expect(sent).toBe(0)
    expect(readdirSync(join(root, 'out'))).toEqual([])
  })

  it('a segment that cannot be read, which it names', async () => {
    const root = folder.file('named')
    await cp(whole, root, { recursive: true })
    cutOff('deu/part001.m4s')(root)
    await expect(regenerateHls(join(root, 'master.m3u8'), join(root, 'out'))).rejects.toMatchObject({
      message: expect.stringContaining('part001.m4s'),
      remedies: ['Copy the complete package again.'],
    })
  })
})

it('an address is named as one, without its signature', async () => {
  const refused = regenerateHls('https://example.com/a/master.m3u8?sig=secret', folder.file('none'))
  await expect(refused).rejects.toMatchObject({
    ...{ code: 'ERR_INPUT_MISSING', exitCode: 2 },
    message: 'https://example.com/a/master.m3u8?[redacted] is an address and not a file.',
  })
})
