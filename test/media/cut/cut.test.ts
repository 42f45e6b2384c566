import { readFileSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { cutVoice } from '../../../src/media/cut/cut.js'
import { cutCommand, cutReadings, planCuts } from '../../../src/media/cut/cut-command.js'
import { audioStreams } from '../../../src/media/media-info.js'
import { decodePcm } from '../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../src/media/probe/probe.js'
import type { CutRequest, VoiceCut } from '../../../src/media/voice-cut.js'
import { ffmpeg, ffmpegOutput, picture, tone } from '../../helpers/media-factory.js'
import { collectPcm } from '../../helpers/sound/pcm-buffers.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const ALL = { kind: 'all' } as const

describe('cutVoice', () => {
  const folder = folderOfTests()
  beforeAll(async () => {
    await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'pcm_s24le', folder.file('source.wav'))
  })

  async function cut(path: string, name: string, part: Partial<CutRequest> = {}): Promise<VoiceCut> {
    const request: CutRequest = {
      audioIndex: 0,
      channels: ALL,
      range: { startSample: 0, endSample: null },
      targetWithoutExtension: folder.file(name),
      ...part,
    }
    const [made] = await cutVoice(await probe(path), [request])
    if (!made) throw new Error('no cut')
    return made
  }

  const samples = (path: string, ...filters: string[]) =>
    ffmpegOutput('-i', path, ...filters, '-f', 's32le', '-c:a', 'pcm_s32le', 'pipe:1')

  it('cuts the same samples when it begins to read late, with a command for each place', async () => {
    const media = await probe(folder.file('source.wav'))
    const request = (name: string, startSample: number, readFromSample: number): CutRequest => ({
      ...{ audioIndex: 0, channels: ALL, range: { startSample, endSample: startSample + 4800 }, readFromSample },
      targetWithoutExtension: folder.file(name),
    })
    const late = [request('late-1', 48_000, 24_001), request('late-2', 96_000, 72_001), request('late-3', 500, 0)]
    const whole = late.map((each) => ({
      ...each,
      readFromSample: 0,
      targetWithoutExtension: `${each.targetWithoutExtension}-whole`,
    }))
    const starts = (requests: readonly CutRequest[]) =>
      cutReadings(planCuts(media, requests)).map((cuts) => {
        const options = cutCommand(media, cuts).inputs[0]?.options ?? []
        return options[options.indexOf('-ss') + 1]
      })
    expect(starts(late).slice(0, 2)).toEqual(['0.500021', '1.500021'])
    expect([starts(late).length, starts(whole).length]).toEqual([3, 1])
    const hashes = async (requests: readonly CutRequest[]) =>
      (await cutVoice(media, requests)).map(({ voiceHash }) => voiceHash)
    expect(await hashes(late)).toEqual(await hashes(whole))
  })

  it('refuses a track whose sample rate changes midway, and leaves nothing behind', async () => {
    const parts = [44_100, 32_000].map((rate) => folder.file(`${rate}.aac`))
    for (const [place, rate] of [44_100, 32_000].entries())
      await ffmpeg(...tone(1, rate, 2), '-c:a', 'aac', parts[place] ?? '')
    const joined = folder.file('joined.aac')
    writeFileSync(joined, Buffer.concat(parts.map((path) => readFileSync(path))))
    await expect(cut(joined, 'changes')).rejects.toMatchObject({ code: 'ERR_FORMAT_CHANGES', errorCode: -2 })
    expect((await readdir(folder.path)).filter((name) => name.startsWith('changes'))).toEqual([])
  })

  it('stores every codec without losing a bit', async () => {
    const codecs = [
      ['pcm_s16le', 'flac', 's16le'],
      ['pcm_s24le', 'flac', 's24le'],
      ['pcm_s24be', 'flac', 's24le'],
      ['pcm_s32le', 'wav', 's32le'],
      ['pcm_f32le', 'wav', 'f32le'],
      ['pcm_f64le', 'wav', 'f64le'],
      ['alac', 'flac', 's16le'],
    ] as const
    const path = folder.file('codecs.mov')
    const tracks = codecs.flatMap(([codec], place) => ['-map', '0', `-c:a:${place}`, codec])
    await ffmpeg('-i', folder.file('source.wav'), ...tracks, path)
    const requests = codecs.map(([codec], audioIndex): CutRequest => {
      const range = { startSample: 0, endSample: null }
      return { audioIndex, channels: ALL, range, targetWithoutExtension: folder.file(`lossless-${codec}`) }
    })
    const made = await cutVoice(await probe(path), requests)
    expect(made).toHaveLength(codecs.length)
    const decoded = (file: string, track: number, raw: string) =>
      ffmpegOutput('-i', file, '-map', `0:a:${track}`, '-f', raw, '-c:a', `pcm_${raw}`, 'pipe:1')
    for (const [place, [codec, format, raw]] of codecs.entries()) {
      const voice = made[place]
      const stored = { format, sampleRate: 48_000, channels: 2, channelLayout: 'stereo', sampleCount: 144_000 }
      expect(voice, codec).toMatchObject(stored)
      expect((await decoded(voice?.path ?? '', 0, raw)).equals(await decoded(path, place, raw)), codec).toBe(true)
    }
  })

  it('falls back to WAV for what FLAC has no code for', async () => {
    const wide = folder.file('wide.wav')
    await ffmpeg('-f', 's16le', '-ar', '48000', '-ac', '10', '-t', '0.1', '-i', '/dev/zero', wide)
    expect(await cut(wide, 'wide-cut')).toMatchObject({ format: 'wav', channels: 10, sampleCount: 4800 })
  })

  it('makes many parts and channels in one reading, each to the sample', async () => {
    const media = await probe(folder.file('source.wav'))
    const range = (startSample: number, endSample: number | null) => ({ startSample, endSample })
    const target = (name: string) => folder.file(`many-${name}`)
    const made = await cutVoice(media, [
      { audioIndex: 0, channels: ALL, range: range(1000, 2001), targetWithoutExtension: target('a') },
      {
        audioIndex: 0,
        channels: { kind: 'one', channel: 1 },
        range: range(140_000, 150_000),
        targetWithoutExtension: target('b'),
      },
      {
        audioIndex: 0,
        channels: { kind: 'downmix' },
        range: range(143_000, null),
        targetWithoutExtension: target('c'),
      },
      { audioIndex: 0, channels: ALL, range: range(200_000, 200_500), targetWithoutExtension: target('d') },
    ])
    expect(made.map(({ sampleCount, channels }) => [sampleCount, channels])).toEqual([
      [1001, 2],
      [10_000, 1],
      [1000, 2],
      [500, 2],
    ])
    const whole = await samples(folder.file('source.wav'))
    expect((await samples(target('a.flac'))).equals(whole.subarray(8000, 16_008))).toBe(true)
    const beyond = (await samples(target('b.flac'))).subarray(4000 * 4)
    expect(beyond.every((byte) => byte === 0)).toBe(true)
    expect(made[2]?.range).toEqual({ startSample: 143_000, endSample: 144_000 })
  })

  it('gives the same hash for the same voice under another picture, another for another voice', async () => {
    const film = async (name: string, size: string) => {
      const source = ['-i', folder.file('source.wav')]
      await ffmpeg(
        ...picture(3, size),
        ...source,
        '-c:v',
        'mpeg4',
        '-c:a',
        'pcm_s24le',
        '-metadata',
        `title=${name}`,
        folder.file(name),
      )
      return (await cut(folder.file(name), `hash-${name}`)).voiceHash
    }
    const first = await film('one.mov', '64x48')
    expect(await film('two.mov', '32x32')).toBe(first)
    expect(await film('three.mkv', '32x32')).toBe(first)
    const part = await cut(folder.file('one.mov'), 'hash-part', { range: { startSample: 1, endSample: null } })
    expect(part.voiceHash).not.toBe(first)
  })

  it.each([8000, 48_000])('cuts blocks of one size at %i Hz, wherever the part begins', async (rate) => {
    const path = folder.file(`blocks-${rate}.mkv`)
    await ffmpeg('-i', folder.file('source.wav'), '-ar', String(rate), '-c:a', 'pcm_s16le', path)
    // Just before the end of a packet: what is left of it is the first frame that the encoder sees.
    for (const startSample of [0, 1019, 1365]) {
      const made = await cut(path, `blocks-${rate}-${startSample}`, { range: { startSample, endSample: null } })
      expect(made.sampleCount).toBe(3 * rate - startSample)
      const [least, most] = [8, 10].map((at) => readFileSync(made.path).readUInt16BE(at))
      expect([least, most]).toEqual([4608, 4608])
    }
  })

  it('leaves nothing of the source in the file but its sound', async () => {
    await ffmpeg(
      '-i',
      folder.file('source.wav'),
      '-metadata',
      'title=Secret take',
      '-metadata',
      'artist=Someone',
      folder.file('tagged.flac'),
    )
    const made = await cut(folder.file('tagged.flac'), 'untagged')
    const { tags } = await probe(made.path)
    expect(tags).toEqual({})
  })

  it.each(process.env.VOXMUX_SOAK ? ['mov', 'mkv', 'mp4', 'ts'] : ['mov', 'ts'])(
    'puts a late start in %s at its place',
    async (extension) => {
      const path = folder.file(`late.${extension}`)
      const codec =
        extension === 'ts'
          ? ['-c:a', 's302m', '-strict', '-2']
          : extension === 'mp4'
            ? ['-c:a', 'alac']
            : ['-c:a', 'pcm_s24le']
      await ffmpeg(
        ...picture(4),
        '-itsoffset',
        '0.48',
        '-i',
        folder.file('source.wav'),
        '-c:v',
        'mpeg4',
        ...codec,
        path,
      )
      const made = await cut(path, `late-${extension}`)
      const before = firstSound(await samples(made.path), 2)
      const reference = firstSound(await samples(folder.file('source.wav')), 2)
      expect(Math.abs(before - reference - 0.48 * 48_000)).toBeLessThanOrEqual(
        extension === 'mov' || extension === 'mp4' ? 0 : 24,
      )
    },
  )

  it('keeps gaps and does not drift over fourteen of them', async () => {
    const path = folder.file('gaps.mkv')
    // A quarter of an hour; the short form has as many gaps in a minute.
    const everySec = process.env.VOXMUX_SOAK ? 60 : 4
    // A beep at the beginning of each turn, a gap of 40 ms at its end: nothing there, not even silence.
    const inTurn = String.raw`mod(t\,${everySec})`
    await ffmpeg(
      ...['-f', 'lavfi', '-i', String.raw`aevalsrc=0.5*lt(${inTurn}\,0.01):s=8000:d=${15 * everySec}`],
      ...['-af', String.raw`asetnsamples=320,aselect=lt(${inTurn}\,${everySec - 0.04})`, '-c:a', 'pcm_s16le', path],
    )
    const made = await cut(path, 'gaps')
    const pcm = await ffmpegOutput('-i', made.path, '-f', 's16le', 'pipe:1')
    const starts: number[] = []
    for (let at = 1; at < pcm.length / 2; at++) {
      if (pcm.readInt16LE(at * 2) > 8000 && pcm.readInt16LE(at * 2 - 2) < 8000) starts.push(at)
    }
    const drift = starts.map((at, place) => at - (place + 1) * everySec * 8000)
    expect(starts).toHaveLength(14)
    expect(Math.max(...drift.map(Math.abs))).toBeLessThanOrEqual(8)
  })

  it.each(process.env.VOXMUX_SOAK ? ['mkv', 'flv'] : ['mkv'])(
    'inserts nothing where the timestamps of %s only jitter',
    async (extension) => {
      const path = folder.file(`jitter.${extension}`)
      await ffmpeg('-i', folder.file('source.wav'), '-ar', '44100', '-c:a', 'libmp3lame', path)
      const made = await cut(path, `jitter-${extension}`)
      // A cut of a lossy codec holds 16 bits of what its decoder gives.
      const plain = await samples(path, '-af', 'aformat=sample_fmts=s16')
      const onClock = await samples(made.path)
      expect(Math.abs(onClock.length - plain.length) / 8).toBeLessThanOrEqual(1200)
      const offset = firstSound(onClock, 2) - firstSound(plain, 2)
      const from = 44_100
      for (let at = from; at < from + 44_100; at++) {
        const difference = onClock.readInt32LE((at + offset) * 8) - plain.readInt32LE(at * 8)
        if (difference !== 0) expect.fail(`sample ${at} differs by ${difference}`)
      }
    },
  )

  it.each(process.env.VOXMUX_SOAK ? ['pcm_s16le', 'pcm_s24le', 'pcm_f32le'] : ['pcm_s24le'])(
    'keeps the samples of a voice of %s beside it',
    async (codec) => {
      const path = folder.file(`samples-${codec}.mov`)
      await ffmpeg('-i', folder.file('source.wav'), '-c:a', codec, path)
      const made = await cut(path, `samples-${codec}`)
      const { sample } = made.pcm.format
      const own = await collectPcm(decodePcm(await probe(made.path), { audioIndex: 0, sample }))
      expect((await readFile(made.pcm.path)).equals(own)).toBe(true)
    },
  )

  it('refuses a track that is not there, and leaves nothing after a fault', async () => {
    await expect(cut(folder.file('source.wav'), 'none', { audioIndex: 3 })).rejects.toMatchObject({
      code: 'ERR_NO_SUCH_TRACK',
    })
    const controller = new AbortController()
    controller.abort()
    const media = await probe(folder.file('source.wav'))
    expect(audioStreams(media)).toHaveLength(1)
    const request: CutRequest = {
      audioIndex: 0,
      channels: ALL,
      range: { startSample: 0, endSample: null },
      targetWithoutExtension: folder.file('aborted'),
    }
    await expect(cutVoice(media, [request], { signal: controller.signal })).rejects.toMatchObject({ exitCode: 130 })
    expect((await readdir(folder.path)).filter((name) => name.startsWith('aborted'))).toEqual([])
  })
})

/** Place of the first sample that is not silence. */
function firstSound(pcm: Buffer, channels: number): number {
  for (let at = 0; at < pcm.length / 4; at++) {
    if (Math.abs(pcm.readInt32LE(at * 4)) > 1 << 16) return Math.floor(at / channels)
  }
  return -1
}
