import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { VoxmuxError } from '../../../../src/core/errors.js'
import type { AudioStreamInfo } from '../../../../src/media/media-info.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { type ContainerProfile, containerProfile } from '../../../../src/media/write/container-profile.js'
import { type AudioChoices, audioEncoding, codecChange } from '../../../../src/media/write/encode/audio-encoding.js'
import { proveEncoder } from '../../../../src/media/write/encode/encoder-priming.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import { ffmpeg, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const sound = (facts: Partial<AudioStreamInfo>) =>
  ({ kind: 'audio', audioIndex: 0, sampleRate: 48_000, channels: 2, bitRate: null, ...facts }) as AudioStreamInfo
const inside = (container: string, facts: Partial<AudioStreamInfo>, wishes: AudioChoices = {}) =>
  audioEncoding(sound(facts), containerProfile(container) as ContainerProfile, { fallbackBitRate: 192_000, ...wishes })

describe('the encoding of a replaced track', () => {
  it('names a change of codec, also from one that ffprobe does not know', () => {
    const changes = ['aac', 'ac3', null].map((codec) => codecChange({ codec }, { codec: 'aac' }))
    expect(changes).toEqual([null, 'ac3 becomes aac', 'an unknown codec becomes aac'])
  })

  it.each([
    ['6 channels of an unknown rate', 'mkv', { codec: 'aac', channels: 6 }, {}, 576_000],
    ['a rate that the packets have', 'mkv', { codec: 'aac' }, { measuredBitRates: new Map([[0, 128_000]]) }, 128_000],
    [
      'half a frame more',
      'mpg',
      { codec: 'ac3', bitRate: 192_000 },
      { measuredBitRates: new Map([[0, 195_000]]) },
      192_000,
    ],
    [
      'many frames more',
      'mpg',
      { codec: 'mp2', bitRate: 192_000 },
      { measuredBitRates: new Map([[0, 250_000]]) },
      256_000,
    ],
    ['a header that states 1 bit/s', 'mp4', { codec: 'aac', bitRate: 1 }, {}, 192_000],
    ['a header that states 128 bit/s', 'mp4', { codec: 'aac', bitRate: 128, channels: 1 }, {}, 192_000],
    ['HE-AAC', 'mp4', { codec: 'aac', profile: 'HE-AAC', bitRate: 48_000 }, {}, 96_000],
    ['HE-AAC of version 2', 'mp4', { codec: 'aac', profile: 'HE-AACv2', bitRate: 40_000 }, {}, 120_000],
    ['too little for its channels', 'mp4', { codec: 'aac', bitRate: 30_000 }, {}, 57_600],
    ['mono Vorbis at 16 kHz', 'ogg', { codec: 'vorbis', channels: 1, sampleRate: 16_000, bitRate: null }, {}, 86_000],
    ['mono Vorbis at 8 kHz', 'ogg', { codec: 'vorbis', channels: 1, sampleRate: 8000, bitRate: 96_000 }, {}, 32_000],
    ['mono Vorbis at 96 kHz', 'ogg', { codec: 'vorbis', channels: 1, sampleRate: 96_000, bitRate: 76_000 }, {}, null],
    ['mono WMA at 16 kHz', 'wma', { codec: 'wmav2', channels: 1, sampleRate: 16_000, bitRate: 15_000 }, {}, 24_000],
    ['layer II at 22 kHz', 'mp2', { codec: 'mp2', sampleRate: 22_050, bitRate: 384_000 }, {}, 160_000],
  ] as const)('has bits enough: %s', async (_, container, facts, wishes, bitRate) => {
    const encoding = inside(container, facts, wishes)
    expect(encoding?.bitRate).toBe(bitRate)
    if (encoding) await proveEncoder(encoding, sound(facts))
  })

  it.each([
    ['flac', null, 'm4a', 'alac'],
    ['alac', null, 'flac', 'flac'],
    ['dts', 'DTS-HD MA', 'mkv', 'flac'],
    ['truehd', null, 'mkv', 'flac'],
    ['pcm_s16le', null, 'mxf', 'pcm_s16le'],
    ['pcm_f32le', null, 'mov', 'pcm_f32le'],
    ['wmalossless', null, 'wmv', 'pcm_s16le'],
    ['pcm_s16be', null, 'wav', 'pcm_s16le'],
    ['pcm_s16be', null, 'w64', 'pcm_s16le'],
    ['pcm_u8', null, 'caf', 'pcm_s16le'],
    ['pcm_bluray', null, 'm2ts', 'pcm_bluray'],
    ['pcm_bluray', null, 'mkv', 'pcm_s16le'],
    ['pcm_dvd', null, 'mov', 'pcm_s16le'],
  ])('stays without loss: %s (%s) in .%s becomes %s', (codec, profile, container, becomes) => {
    const lossless = audioEncoding(
      sound({ codec, profile, bitsPerSample: 16, sampleFormat: 's16' }),
      { ...(containerProfile(container) as ContainerProfile) },
      { fallbackCodec: 'aac' },
    )
    const encoder = codec === 'dts' ? inside(container, { codec, profile }, { fallbackCodec: 'aac' }) : lossless
    expect(encoder?.codec).toBe(becomes)
  })

  it('keeps the 32 bits of WavPack', () => {
    const depth = (bitsPerSample: number) =>
      inside('wv', { codec: 'wavpack', bitsPerSample, sampleFormat: 's32p' })?.options.slice(-2)
    expect(depth(32)).toEqual(['-bits_per_raw_sample:{s}', '32'])
    expect(depth(24)).toEqual(['-bits_per_raw_sample:{s}', '24'])
  })

  it.each([
    ['DTS of a DVD', 'mpg', { codec: 'dts', channels: 6 }, 'ac3'],
    ['DTS in AVI', 'avi', { codec: 'dts', channels: 6 }, 'ac3'],
    ['DTS in a transport stream', 'ts', { codec: 'dts', channels: 6 }, 'ac3'],
    ['DTS of 8 channels', 'ts', { codec: 'dts', channels: 8 }, 'aac'],
    ['DTS of 96 kHz', 'ts', { codec: 'dts', channels: 6, sampleRate: 96_000 }, 'aac'],
    ['DTS-HD Master Audio', 'm2ts', { codec: 'dts', profile: 'DTS-HD MA', channels: 8 }, 'pcm_bluray'],
    ['Windows Media of 5.1', 'wmv', { codec: 'wmapro', channels: 6 }, 'ac3'],
    ['Windows Media of 2.0', 'wmv', { codec: 'wmapro' }, 'wmav2'],
    ['a downmix', 'mpg', { codec: 'dts', channels: 6 }, 'ac3', { mixedTo: new Map([[0, 2]]) }],
    ['a downmix to MP3', 'mp3', { codec: 'aac', channels: 6 }, 'mp3', { mixedTo: new Map([[0, 2]]) }],
    ['too many channels for MP3', 'mp3', { codec: 'aac', channels: 6 }, undefined],
    ['a rate that no codec of the container has', 'mp3', { codec: 'aac', sampleRate: 96_000 }, 'mp3'],
  ] as const)('keeps the channels and the sample rate: %s', (_, container, facts, becomes, wishes?: AudioChoices) => {
    expect(inside(container, facts, wishes)?.codec).toBe(becomes)
  })

  it('refuses what the encoder would refuse after the voice was paid for', async () => {
    const encoding = { codec: 'ac3', encoder: 'ac3', lossless: false, bitRate: 640_000, options: ['-b:{s}', '640000'] }
    const opus = { codec: 'opus', encoder: 'libopus', lossless: false, bitRate: null, options: [] }
    const three = { sampleRate: 48_000, channels: 3 }
    await proveEncoder(opus, { ...three, channelLayout: '3.0' })
    await expect(proveEncoder(opus, { ...three, channelLayout: '2.1' })).rejects.toThrow('3 channels')
    await expect(proveEncoder(encoding, { sampleRate: 48_000, channels: 9 })).rejects.toMatchObject({
      code: 'ERR_ENCODER_REFUSES',
      exitCode: 2,
    })
  })
})

describe('a clock that overlaps itself', () => {
  const folder = folderOfTests()

  it('is refused before anything is sent, and its place is named', async () => {
    const path = folder.file('overlap.mkv')
    const back = ['-bsf:a', 'setts=ts=if(gt(N\\,100)\\,PTS-2/TB\\,PTS)']
    await ffmpeg(...tone(5), '-c:a', 'aac', folder.file('plain.mkv'))
    await ffmpeg('-i', folder.file('plain.mkv'), '-c', 'copy', ...back, path)
    const refused = planOutput(await probe(path), { replaced: [0] })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_CLOCK_OVERLAPS', exitCode: 5 })
    await expect(refused).rejects.toThrow(/goes back at \d\.\d\d s: [12]\.\d\d s of its sound/)
    const { remedies } = (await refused.catch((error: unknown) => error)) as VoxmuxError
    const [, options = ''] = /`ffmpeg -i in (.*) out.mkv`/.exec(remedies[0] ?? '') ?? []
    await ffmpeg('-i', path, ...options.split(' '), folder.file('one-clock.mkv'))
    await planOutput(await probe(folder.file('one-clock.mkv')), { replaced: [0] })
    const plan = await planOutput(await probe(folder.file('plain.mkv')), { replaced: [0] })
    const [stream] = plan.streams
    expect(stream?.fate === 'replaced' ? stream.encoding.bitRate : null).toBeGreaterThan(28_000)
  })

  it.each(['frag_keyframe+empty_moov', 'frag_keyframe'])('is refused in fragments (%s)', async (flags) => {
    const path = folder.file(`${flags}.mp4`)
    await ffmpeg(...tone(3), '-c:a', 'aac', '-movflags', flags, '-frag_duration', '500000', path)
    await planOutput(await probe(path), { replaced: [0] })
    const file = await readFile(path)
    const third = [...file.toString('latin1').matchAll(/tfdt/g)][2]?.index ?? 0
    file.writeBigUInt64BE(file.readBigUInt64BE(third + 8) - 9600n, third + 8)
    await writeFile(path, file)
    const refused = planOutput(await probe(path), { replaced: [0] })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_CLOCK_OVERLAPS', exitCode: 5 })
  })
})
