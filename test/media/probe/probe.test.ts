import { mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { TransientError } from '../../../src/core/errors.js'
import { blamingFile } from '../../../src/media/ffmpeg/blaming-file.js'
import { probe } from '../../../src/media/probe/probe.js'
import { fixture } from '../../helpers/job-bench.js'
import { ffmpeg, ffmpegOutput, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

describe('probe', () => {
  const folder = folderOfTests()

  it('says what a film holds, in file order', async () => {
    const path = folder.file('film.mov')
    await writeFile(folder.file('s.srt'), '1\n00:00:00,000 --> 00:00:01,000\nHello\n')
    await ffmpeg(
      ...[...picture(2), ...tone(2, 48_000, 2), ...tone(2, 44_100), '-i', folder.file('s.srt')],
      ...['-map', '0', '-map', '1', '-map', '2', '-map', '3', '-c:v', 'mpeg4', '-c:a:0', 'pcm_s24le', '-c:a:1', 'aac'],
      ...[
        '-c:s',
        'mov_text',
        '-timecode',
        '01:00:00:00',
        '-metadata:s:a:1',
        'language=ger',
        '-metadata',
        'title=A film',
      ],
      path,
    )
    const media = await probe(path)
    expect(media).toMatchObject({ container: 'mov', startSec: 0, durationSec: 2, tags: { title: 'A film' } })
    expect(media.streams.map((stream) => [stream.index, stream.kind, stream.codec, stream.codecTag])).toEqual([
      [0, 'video', 'mpeg4', 'mp4v'],
      [1, 'audio', 'pcm_s24le', 'in24'],
      [2, 'audio', 'aac', 'mp4a'],
      [3, 'subtitle', 'mov_text', 'text'],
      [4, 'data', null, 'tmcd'],
    ])
    expect(media.streams[1]).toMatchObject({ audioIndex: 0, channels: 2, channelLayout: 'stereo', bitsPerSample: 24 })
    expect(media.streams[2]).toMatchObject({ audioIndex: 1, sampleRate: 44_100, language: 'ger', bitsPerSample: null })
    expect(media.streams[0]).toMatchObject({ width: 64, height: 48, frameRate: '25/1', rotationDeg: 0, isCover: false })
  })

  it.each([
    ['mp4', 'mp4'],
    ['m4a', 'm4a'],
    ['mkv', 'mkv'],
    ['webm', 'webm'],
    ['ts', 'ts'],
    ['m2ts', 'm2ts'],
    ['wav', 'wav'],
    ['aiff', 'aiff'],
    ['flac', 'flac'],
    ['mp3', 'mp3'],
    ['ogg', 'ogg'],
    ['opus', 'opus'],
    ['wma', 'wma'],
    ['ac3', 'ac3'],
    ['3gp', '3gp'],
    ['mpg', 'mpg'],
    ['flv', 'flv'],
    ['avi', 'avi'],
  ])('tells .%s by its content, not by its name', async (extension, container) => {
    const made = folder.file(`kind.${extension}`)
    const codec = extension === '3gp' || extension === 'm4a' ? ['-c:a', 'aac'] : []
    await ffmpeg(...tone(0.5), ...codec, made)
    expect((await probe(made)).container).toBe(container)
  })

  it('refuses what is not there', async () => {
    await mkdir(folder.file('folder.mp4'))
    await expect(probe(folder.file('nothing.mp4'))).rejects.toMatchObject({ code: 'ERR_INPUT_MISSING', exitCode: 2 })
    await expect(probe(folder.file('folder.mp4'))).rejects.toMatchObject({ code: 'ERR_INPUT_IS_FOLDER', exitCode: 2 })
  })

  it('refuses an empty file and text named .mp4 as unreadable', async () => {
    await writeFile(folder.file('empty.mp4'), '')
    await writeFile(folder.file('text.mp4'), 'This is not a film.\n'.repeat(50))
    const unreadable = { code: 'ERR_UNREADABLE', exitCode: 5, errorCode: -2, errorName: 'CorruptedFile' }
    await expect(probe(folder.file('empty.mp4'))).rejects.toMatchObject(unreadable)
    await expect(probe(folder.file('text.mp4'))).rejects.toMatchObject(unreadable)
  })

  it.each([
    ['index.mp4', ['-movflags', '+faststart', '-c:a', 'aac']],
    ['noindex.mp4', ['-c:a', 'aac']],
    ['cut.mkv', []],
    ['cut.wav', []],
    ['cut.avi', []],
    ['cut.aiff', []],
    ['long.wav', ['-rf64', 'always']],
    ['cut.w64', []],
    ['cut.caf', []],
    ['cut.au', []],
    ['cut.wma', []],
    ['cut.flv', []],
    ['cut.mxf', ['-f', 'lavfi', '-i', 'testsrc=s=720x576:r=25:d=3', '-ar', '48000', '-f', 'mxf']],
    ['cut.flac', []],
    ['cut.mp3', []],
    ['tagged.mp3', ['-metadata', 'title=Cut', '-write_id3v1', '1']],
  ])('sees that %s is truncated', async (name, options) => {
    const path = folder.file(name)
    await ffmpeg(...tone(3), ...options, path)
    await expect(probe(path)).resolves.toBeDefined()
    await truncate(path, Math.floor((await stat(path)).size * 0.7))
    await expect(probe(path)).rejects.toMatchObject({ code: 'ERR_UNREADABLE', errorCode: -2 })
  })

  it.each(['wav', 'caf', 'au', 'wma', 'flv'])('takes a .%s that was streamed and cut', async (extension) => {
    const [path, options] = [folder.file(`streamed.${extension}`), extension === 'wav' ? ['-rf64', 'always'] : []]
    const format = extension === 'wma' ? 'asf' : extension
    const bytes = await ffmpegOutput(...tone(3), ...options, '-f', format, 'pipe:1')
    await writeFile(path, bytes.subarray(0, Math.floor(bytes.length * 0.7)))
    await expect(probe(path)).resolves.toMatchObject({ container: extension })
  })

  it.each(['speech.flac', 'speech.mp3'])('sees that 55 % of %s is not all of it', async (name) => {
    const whole = await readFile(fixture(name))
    await writeFile(folder.file(name), whole.subarray(0, Math.floor(whole.length * 0.55)))
    await expect(probe(folder.file(name))).rejects.toMatchObject({ code: 'ERR_UNREADABLE', errorCode: -2 })
    // Sound or tags behind what the header counts are no fault.
    await writeFile(folder.file(name), Buffer.concat([whole, whole.subarray(-4000), Buffer.alloc(300_000)]))
    await expect(probe(folder.file(name))).resolves.toBeDefined()
  })

  it('reads no length from words in front of the first MP3 frame', async () => {
    const path = folder.file('junk.mp3')
    const words = Buffer.concat([Buffer.from('Info Source Xing VBRI'), Buffer.alloc(40, 0x7f)])
    await writeFile(path, Buffer.concat([words, await readFile(fixture('speech.mp3'))]))
    await expect(probe(path)).resolves.toMatchObject({ container: 'mp3' })
  })

  it('refuses AC-3 whose bytes are swapped, which ffmpeg reads with wrong channels', async () => {
    const path = folder.file('swapped.ac3')
    await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'ac3', path)
    await writeFile(path, (await readFile(path)).swap16())
    await expect(probe(path)).rejects.toMatchObject({ code: 'ERR_UNSUPPORTED_CONTAINER', errorCode: -16 })
  })

  it('takes a FLAC file whose last frame is shorter than the longest header', async () => {
    const path = folder.file('silent.flac')
    await ffmpeg('-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=mono', '-t', '1', '-c:a', 'flac', path)
    await expect(probe(path)).resolves.toMatchObject({ container: 'flac' })
  })

  it('reads a FLAC whose metadata state more bytes than the file has, which then holds no frame', async () => {
    const path = folder.file('lying.flac')
    await ffmpeg(...tone(1), '-c:a', 'flac', path)
    const bytes = await readFile(path)
    // Padding behind STREAMINFO, as the last block.
    bytes.writeUInt32BE(0x81ffffff, 42)
    await writeFile(path, bytes)
    await expect(probe(path)).resolves.toMatchObject({ container: 'flac' })
  })

  it('reads four quiet MP3 frames in a part file, which ffmpeg takes for another format', async () => {
    const path = folder.file('quiet.part')
    const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=24000:cl=stereo:d=0.03']
    const frames = ['-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3']
    await ffmpeg(...silence, ...frames, path)
    const tag = Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\x07\x27', 'latin1'), Buffer.alloc(935)])
    await writeFile(path, Buffer.concat([tag, Buffer.alloc(15), await readFile(path)]))
    await expect(probe(path)).rejects.toThrow()
    await expect(probe(path, { writtenAs: 'mp3' })).resolves.toMatchObject({ container: 'mp3' })
  })

  it.each(['flac', 'aac', 'ac3', 'eac3', 'mp3'])(
    'reads .%s behind a large ID3 tag under any name',
    async (container) => {
      const plain = folder.file(`plain.${container}`)
      await ffmpeg(...tone(1, 48_000, 2), '-id3v2_version', '0', plain)
      // The size of a tag has 7 bits in a byte.
      const tag = Buffer.concat([Buffer.from('ID3\x03\0\0\0\x60\0\0', 'latin1'), Buffer.alloc(0x60 << 14)])
      const path = folder.file(`.${container}.part`)
      await writeFile(path, Buffer.concat([tag, await readFile(plain)]))
      const media = await probe(path)
      expect(media).toMatchObject({ container, readOptions: ['-f', container] })
      expect(media.streams.map(({ codec }) => codec)).toEqual([container])
    },
  )

  it.each([
    { valid: 24, container: 32, as: 'floating point' },
    { valid: 20, container: 32, as: '24 bits in a row' },
    { valid: 12, container: 24, as: '16 bits in a row' },
  ])('refuses $valid bits in $container, which ffmpeg takes for $as', async ({ valid, container }) => {
    const [whole, codec] = [folder.file(`${container}-bits.wav`), `pcm_s${container}le`]
    await ffmpeg(...tone(1, 48_000, 2), '-c:a', codec, whole)
    const file = await readFile(whole)
    const format = file.indexOf('fmt ') + 8
    expect(file.readUInt16LE(format)).toBe(0xfffe)
    // Its valid bits.
    file.writeUInt16LE(valid, format + 18)
    const path = folder.file(`${valid}-in-${container}.wav`)
    await writeFile(path, file)
    await expect(probe(path)).rejects.toMatchObject({
      ...{ code: 'ERR_UNSUPPORTED_CODEC', errorCode: -7, exitCode: 5 },
      remedies: [expect.stringContaining(`-c:a ${codec} -i in.wav`)],
    })
    expect((await probe(whole)).streams[0]?.codec).toBe(codec)
  })

  it('takes a WAV whose header states too small a frame, which ffmpeg reads right', async () => {
    const path = folder.file('small-frame.wav')
    await ffmpeg(...tone(1, 48_000, 2), '-c:a', 'pcm_s16le', path)
    const file = await readFile(path)
    file.writeUInt16LE(2, file.indexOf('fmt ') + 8 + 12)
    await writeFile(path, file)
    expect((await probe(path)).streams[0]?.codec).toBe('pcm_s16le')
  })

  it('refuses a CAF with 24 bits in 32, which ffmpeg takes for 24 bits in a row', async () => {
    const [whole, path] = [folder.file('32-bits.caf'), folder.file('24-in-32.caf')]
    await ffmpeg(...tone(1, 48_000, 2), '-c:a', 'pcm_s32le', whole)
    const file = await readFile(whole)
    // Bits of a sample, at the end of the description.
    file.writeUInt32BE(24, 48)
    await writeFile(path, file)
    await expect(probe(path)).rejects.toMatchObject({
      ...{ code: 'ERR_UNSUPPORTED_CODEC', errorCode: -7, exitCode: 5 },
      remedies: [expect.stringContaining('afconvert')],
    })
    for (const codec of ['pcm_s32le', 'pcm_s24be', 'pcm_f64le', 'pcm_mulaw', 'alac']) {
      await ffmpeg(...tone(1, 48_000, 2), '-c:a', codec, whole)
      expect((await probe(whole)).streams[0]?.codec).toBe(codec)
    }
  })

  it('says of each track whether it is encrypted', async () => {
    const [film, sound] = [folder.file('protected.mp4'), folder.file('protected.mka')]
    const key = ['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', 'ab'.repeat(16), '-encryption_kid']
    await ffmpeg(...tone(1), ...key, 'cd'.repeat(16), film)
    // The title takes as many bytes as the encoding that takes its place.
    await ffmpeg(...tone(1), '-metadata:s:a:0', `title=${'t'.repeat(21)}`, '-c:a', 'aac', sound)
    const encoding = Buffer.from('6d80956240925033810150358b47e1810547e28401020304', 'hex')
    const bytes = await readFile(sound)
    encoding.copy(bytes, bytes.indexOf(Buffer.from(`536e95${'74'.repeat(21)}`, 'hex')))
    await writeFile(sound, bytes)
    const windowsMedia = folder.file('protected.wma')
    await ffmpeg(...tone(1), '-c:a', 'wmav2', windowsMedia)
    // The object takes the place of one that ffmpeg writes and that no reader needs.
    const asf = await readFile(windowsMedia)
    const at = asf.indexOf(Buffer.from('4052d1861d31d011a3a400a0c90348f6', 'hex'))
    const bodyBytes = Number(asf.readBigUInt64LE(at + 16)) - 24
    Buffer.from('fbb3112223bdd211b4b700a0c955fc6e', 'hex').copy(asf, at)
    // Four fields of stated length: secret, kind of protection, key and licence.
    asf.fill(0, at + 24, at + 24 + bodyBytes).writeUInt32LE(bodyBytes - 16, at + 24)
    await writeFile(windowsMedia, asf)
    for (const path of [film, sound, windowsMedia])
      expect((await probe(path)).streams, path).toMatchObject([{ kind: 'audio', isEncrypted: true }])
    expect((await probe(fixture('interview.mp4'))).streams.some((stream) => 'isEncrypted' in stream)).toBe(false)
  })

  it('blames a file that ffprobe fails on in its own words, and no disk that fails', async () => {
    const wave = await readFile(fixture('speech.wav'))
    for (const channels of [0, 65_535]) {
      wave.writeUInt16LE(channels, 22)
      await writeFile(folder.file('channels.wav'), wave)
      await expect(probe(folder.file('channels.wav'))).rejects.toMatchObject({ exitCode: 5, errorCode: -2 })
    }
    const fault = new TransientError('ERR_MEDIA_IO', 'Reading failed.')
    const failing = (path: string) => blamingFile(path, undefined, () => Promise.reject(fault))
    await expect(failing(fixture('speech.wav'))).rejects.toMatchObject({ code: 'ERR_UNREADABLE', errorCode: -2 })
    // Its first byte is an EIO.
    await expect(failing('/proc/self/mem')).rejects.toBe(fault)
  })

  it('opens nothing that a file names: no neighbour, no address', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await ffmpeg(...tone(1), folder.file('neighbour.ts'))
    const playlist = (target: string) =>
      `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXTINF:1.0,\n${target}\n#EXT-X-ENDLIST\n`
    const crafted: Record<string, string> = {
      'hls-net.mp4': playlist(`${origin}/a.ts`),
      'hls-file.mp4': playlist('neighbour.ts'),
      'concat.mp4': `ffconcat version 1.0\nfile '${folder.file('neighbour.ts')}'\n`,
      'sdp.mp4': `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n`,
      'dash.mp4': `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="audio/mp4"><Representation id="1"><BaseURL>${origin}/d.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>`,
    }
    for (const [name, text] of Object.entries(crafted)) {
      await writeFile(folder.file(name), text)
      await expect(probe(folder.file(name)), name).rejects.toMatchObject({ exitCode: 5 })
    }
    await new Promise((resolve) => server.close(resolve))
    expect(asked).toEqual([])
    expect((await readFile(folder.file('hls-file.mp4'))).length).toBeGreaterThan(0)
  })
})
