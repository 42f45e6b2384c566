import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { AudioStreamInfo } from '../../../src/media/media-info.js'
import { decodePcm } from '../../../src/media/pcm/decode-pcm.js'
import { pcmCodecName, rawFormatName, type SampleType } from '../../../src/media/pcm/pcm.js'
import { readSamples } from '../../../src/media/pcm/pcm-samples.js'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, ffmpegOutput, picture } from '../../helpers/media-factory.js'
import { collectPcm } from '../../helpers/sound/pcm-buffers.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { joinPackets } from './frames-in-packets.js'

const fixture = (name: string) => fileURLToPath(new URL(`../../../fixtures/${name}`, import.meta.url))
const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('decodePcm', () => {
  const folder = folderOfTests()

  it.each<SampleType>(['s16', 's32', 'f32', 'f64'])('carries every bit of a %s source', async (sample) => {
    const path = folder.file(`${sample}.wav`)
    await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=0.5:r=48000', '-ac', '2', '-c:a', pcmCodecName(sample), path)
    const stream = decodePcm(await probe(path), { audioIndex: 0 })
    expect(stream.format.sample).toBe(sample)
    const bare = await ffmpegOutput('-i', path, '-f', rawFormatName(sample), '-')
    expect(sha(await collectPcm(stream))).toBe(sha(bare))
  })

  it('carries 24 bits in s32', async () => {
    const stream = decodePcm(await probe(fixture('field-recorder.wav')), { audioIndex: 0 })
    expect(stream.format.sample).toBe('s32')
    const bare = await ffmpegOutput('-i', fixture('field-recorder.wav'), '-f', 's32le', '-')
    expect(sha(await collectPcm(stream))).toBe(sha(bare))
  })

  it('keeps a late start as silence', async () => {
    const stream = decodePcm(await probe(fixture('late-audio.mp4')), { audioIndex: 0, sample: 'f32' })
    const samples = readSamples(await collectPcm(stream), 'f32')
    const channels = stream.format.channels
    const first = samples.findIndex((value) => Math.abs(value) > 1e-4) / channels / stream.format.sampleRate
    // The file presents its sound from 0.458 s on (encoder priming included); a plain decode puts it at 0.
    expect(first).toBeGreaterThan(0.457)
    expect(first).toBeLessThan(0.48)
  })

  it('keeps the samples of a start so late that the silence before it would not fit into memory', async () => {
    const [path, plain] = [folder.file('late.mkv'), folder.file('plain.wav')]
    const sound = ['-f', 'lavfi', '-i', 'anoisesrc=d=0.5:r=96000:seed=3', '-ac', '8', '-c:a', 'pcm_s32le']
    await ffmpeg(...sound, plain)
    // ffmpeg's resampler inserts 349 s of eight channels at this rate.
    await ffmpeg(...picture(1, '64x48', 5), '-itsoffset', '360', '-i', plain, '-c:a', 'copy', path)
    const range = { startSample: 359 * 96_000, endSample: 361 * 96_000 }
    const late = await collectPcm(decodePcm(await probe(path), { audioIndex: 0, range }))
    const bytes = await ffmpegOutput('-i', plain, '-f', 's32le', '-')
    const at = 96_000 * 8 * 4
    expect(late.subarray(at, at + bytes.length).equals(bytes)).toBe(true)
    expect(late.subarray(0, at).every((byte) => byte === 0)).toBe(true)
  })

  it('keeps a gap in the timestamps as silence, to the sample', async () => {
    const media = await probe(fixture('gap.mkv'))
    const stream = decodePcm(media, { audioIndex: 0 })
    const { sampleRate } = stream.format
    const samples = readSamples(await collectPcm(stream), stream.format.sample)
    const gap = samples.subarray(Math.round(1.51 * sampleRate), Math.round(1.99 * sampleRate))
    expect(gap.every((value) => value === 0)).toBe(true)
  })

  it.each(['ogg', 'webm', 'mkv', 'mp4'])(
    'keeps the samples of Vorbis together where blocks change their size, in .%s',
    async (type) => {
      const path = folder.file(`attacks.${type}`)
      // A click every 0.3 s in a tone: blocks become short before each.
      const sound = 'aevalsrc=0.1*sin(2*PI*t*300)+0.8*lt(mod(t\\,0.3)\\,0.0005):s=48000:d=4'
      await ffmpeg('-f', 'lavfi', '-i', sound, '-c:a', 'libvorbis', folder.file('made.ogg'))
      await ffmpeg('-i', folder.file('made.ogg'), '-c', 'copy', path)
      expect(await endsWithBareSound(path)).toBe(true)
      await expect(planOutput(await probe(path), { replaced: [0] })).resolves.toBeDefined()
    },
  )

  it.each([0, 3000])('keeps all frames of a FLAC stream that lost its header, behind %i other bytes', async (count) => {
    const [path, whole] = [folder.file('bare.flac'), folder.file('whole.flac')]
    await ffmpeg('-i', fixture('speech.wav'), '-ar', '44100', '-c:a', 'flac', whole)
    const bytes = await readFile(whole)
    const frames = bytes.subarray(bytes.indexOf(Buffer.from([0xff, 0xf8])))
    await writeFile(path, Buffer.concat([Buffer.alloc(count, 'other bytes'), frames]))
    const [bare, wanted] = await Promise.all(
      [path, whole].map(async (file) => collectPcm(decodePcm(await probe(file), { audioIndex: 0 }))),
    )
    expect(bare?.equals(wanted as Buffer)).toBe(true)
  })

  it.each([
    ['fields.gxf', ['-c:v', 'mpeg2video', '-pix_fmt', 'yuv420p', '-c:a', 'pcm_s16le']],
    ['dvd.vob', ['-c:v', 'mpeg2video', '-c:a', 'pcm_dvd', '-ac', '2']],
    ['vorbis.avi', ['-c:a', 'libvorbis']],
    ['dts.avi', ['-c:a', 'dca', '-strict', '-2', '-ac', '2']],
    ['eac3.avi', ['-c:a', 'eac3']],
    ['g722.avi', ['-c:a', 'g722', '-ar', '48000']],
    ['speex.avi', ['-c:a', 'libspeex', '-ar', '32000']],
    ['wma.wav', ['-vn', '-c:a', 'wmav2']],
    ['flac.caf', ['-vn', '-c:a', 'flac', '-ac', '2']],
  ])('keeps samples together if the times of their packets are rounded or guessed, as in %s', async (name, options) => {
    const path = folder.file(name)
    const sound = ['-i', fixture('speech.wav'), '-ar', '48000']
    await ffmpeg(...picture(3, '720x576', 25), ...sound, ...options, path)
    expect(await endsWithBareSound(path)).toBe(true)
  })

  it('begins Windows Media in WAV at once, as its players do', async () => {
    const path = folder.file('at-once.wav')
    await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=3:r=48000:seed=3:a=0.3', '-c:a', 'wmav2', path)
    const own = await collectPcm(decodePcm(await probe(path), { audioIndex: 0, sample: 'f32' }))
    expect(own.equals(await bareOf(path))).toBe(true)
  })

  it.each([
    // The third packet is the first that is heard.
    ['primed.wma', ['-c:a', 'wmav2'], [], 'if(eq(N\\,2)\\,TS+0.0165/TB\\,TS)', 0],
    ['primed.m2ts', ['-c:a', 'libopus'], ['-pes_payload_size', '0'], 'if(eq(N\\,0)\\,TS\\,TS-0.0065/TB)', 312],
  ])(
    'keeps the sound of %s whole, whose first frame reaches into the second',
    async (name, codec, muxer, times, cut) => {
      const [path, inTime] = [folder.file(name), folder.file(`in-time-${name}`)]
      await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=3:r=48000:seed=3:a=0.3', ...codec, ...muxer, inTime)
      await ffmpeg('-i', inTime, '-c', 'copy', ...muxer, '-bsf:a', `setts=ts=${times}`, path)
      expect(await endsWithBareSound(path, cut)).toBe(true)
    },
  )

  it('keeps the sound of packets together that hold several frames and state only about when they begin', async () => {
    const path = folder.file('several-frames.wma')
    await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=6:r=48000:seed=3:a=0.3', '-c:a', 'wmav2', path)
    await joinPackets(path, 'N*8192/48000/TB+mod(N*7\\,10)*0.004/TB')
    expect(await endsWithBareSound(path)).toBe(true)
    const media = await probe(path)
    const { firstFrames, frameJitterSec } = media.streams[0] as AudioStreamInfo
    expect(frameJitterSec).toBeCloseTo(2048 / 48_000)
    // The decoder leaves out the first two frames.
    expect(firstFrames?.startSec).toBeCloseTo(4096 / 48_000, 2)
    // A packet that is missing remains a gap.
    const gappy = folder.file('gap.wma')
    await ffmpeg('-i', path, '-c', 'copy', '-bsf:a', 'noise=drop=eq(n\\,12)', gappy)
    const [whole, bare] = [await bareOf(path), await bareOf(gappy)]
    expect(whole.length - bare.length).toBe(8192 * 4)
    const rest = await collectPcm(decodePcm(await probe(gappy), { audioIndex: 0, sample: 'f32' }))
    expect(rest.subarray(-48_000 * 4).equals(whole.subarray(-48_000 * 4))).toBe(true)
    expect(rest.length).toBeGreaterThan(whole.length)
  })

  /** True if the decoded track ends with every sample that ffmpeg decodes without a clock, except the first ones. */
  async function endsWithBareSound(path: string, except = 0): Promise<boolean> {
    const own = await collectPcm(decodePcm(await probe(path), { audioIndex: 0, sample: 'f32' }))
    const bare = (await bareOf(path)).subarray(4 * except)
    expect(bare.length).toBeGreaterThan(4 * 48_000)
    return own.subarray(-bare.length).equals(bare)
  }

  const bareOf = (path: string) => ffmpegOutput('-i', path, '-f', 'f32le', '-')

  it('gives exactly the range that was asked for, filled up with silence past the end', async () => {
    const media = await probe(fixture('speech.wav'))
    const whole = await collectPcm(decodePcm(media, { audioIndex: 0 }))
    const total = whole.length / 2
    const range = { startSample: total - 1000, endSample: total + 500 }
    const stream = decodePcm(media, { audioIndex: 0, range })
    expect(stream.sampleCount).toBe(1500)
    const part = await collectPcm(stream)
    expect(part.equals(Buffer.concat([whole.subarray(-2000), Buffer.alloc(1000)]))).toBe(true)
    const beyond = { startSample: total + 100, endSample: total + 200 }
    expect((await collectPcm(decodePcm(media, { audioIndex: 0, range: beyond }))).equals(Buffer.alloc(200))).toBe(true)
  })

  it('takes one channel without changing a bit', async () => {
    const media = await probe(fixture('surround.wav'))
    const all = await collectPcm(decodePcm(media, { audioIndex: 0 }))
    const stream = decodePcm(media, { audioIndex: 0, channels: { kind: 'one', channel: 2 } })
    expect(stream.format).toMatchObject({ channels: 1, channelLayout: 'mono' })
    const center = await collectPcm(stream)
    expect(center.length).toBe(all.length / 6)
    for (let at = 0; at < center.length; at += 2) expect(center.readInt16LE(at)).toBe(all.readInt16LE(at * 6 + 4))
  })

  it.each([
    // Noise that a decoder of AAC makes up depends on the place at which it starts.
    ['index.mp4', ['-c:a', 'aac', '-aac_pns', '0']],
    ['fragments.mp4', ['-c:a', 'aac', '-aac_pns', '0', '-movflags', 'frag_keyframe+empty_moov']],
    ['cues.mkv', ['-c:a', 'aac', '-aac_pns', '0']],
    ['frames.aac', ['-c:a', 'aac', '-aac_pns', '0']],
    ['frames.mp3', ['-c:a', 'libmp3lame']],
    ['pages.opus', ['-c:a', 'libopus']],
  ])('gives the same sound if it starts late in %s', async (name, options) => {
    const path = folder.file(name)
    const wave = '0.3*sin(2*PI*t*(200+60*t))+0.05*(random(1)-0.5)'
    const isFilm = /mp4|mkv/.test(name)
    const film = isFilm ? ['-c:v', 'libx264', '-g', '10'] : []
    const sources = [...(isFilm ? picture(16, '64x48', 5) : []), '-f', 'lavfi', '-i', `aevalsrc=${wave}:s=48000:d=16`]
    await ffmpeg(...sources, ...film, ...options, path)
    const media = await probe(path)
    const read = async (startsLate: boolean, startSec: number) => {
      const range = { startSample: startSec * 48_000, endSample: 13 * 48_000 }
      return readSamples(await collectPcm(decodePcm(media, { audioIndex: 0, range, startsLate })), 'f32')
    }
    const whole = await read(false, 12)
    const late = (await read(true, 9)).subarray(3 * 48_000)
    // Matroska rounds times to milliseconds, and another first packet is rounded otherwise.
    const most = name === 'cues.mkv' ? 48 : 0
    const lags = Array.from({ length: 2 * most + 1 }, (_, place) => place - most)
    const differs = (lag: number) => whole.subarray(50, -50).some((value, at) => value !== late[at + 50 + lag])
    expect(lags.some((lag) => !differs(lag))).toBe(true)
  })

  it('can be left early, and names a track that is not there', async () => {
    const media = await probe(fixture('speech.wav'))
    for await (const buffer of decodePcm(media, { audioIndex: 0 }).buffers()) {
      expect(buffer.length).toBeGreaterThan(0)
      break
    }
    expect(() => decodePcm(media, { audioIndex: 1 })).toThrow(/no audio track 1/)
  })
})
