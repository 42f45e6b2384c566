import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alignVoice } from '../../../src/media/align/align-voice.js'
import { alignedVoice } from '../../../src/media/align/aligned-voice.js'
import { unpackSound } from '../../../src/media/align/unpack-sound.js'
import type { PcmFile } from '../../../src/media/pcm/pcm-file.js'
import type { VoiceCut } from '../../../src/media/voice-cut.js'
import { ffmpeg, ffmpegOutput, type TestFolder, testFolder } from '../../helpers/media-factory.js'
import { collectPcm } from '../../helpers/sound/pcm-buffers.js'

const SPEECH = fileURLToPath(new URL('../../../fixtures/speech.wav', import.meta.url))
const RATE = 48_000

describe('alignVoice', () => {
  let folder: TestFolder
  let mono: VoiceCut
  let stereo: VoiceCut
  /** The cut's own samples: what an aligned answer must be. */
  let sent: Buffer

  beforeAll(async () => {
    folder = await testFolder()
    mono = await cutOf('mono.flac', 'anull', 1, 0)
    stereo = await cutOf('stereo.flac', 'pan=stereo|c0=c0|c1=c0', 2, 0)
    sent = await ffmpegOutput('-i', mono.path, '-f', 's16le', '-')
  })
  afterAll(() => folder.remove())

  async function cutOf(name: string, filter: string, channels: number, startSample: number): Promise<VoiceCut> {
    const path = folder.file(name)
    await ffmpeg('-i', SPEECH, '-af', filter, path)
    const pcm = await unpacked(path, channels)
    const { sampleCount } = pcm
    const range = { startSample, endSample: startSample + sampleCount }
    return {
      request: { audioIndex: 0, channels: { kind: 'all' }, range, targetWithoutExtension: path },
      ...{ path, format: 'flac', sampleRate: RATE, channels, channelLayout: channels === 1 ? 'mono' : 'stereo' },
      ...{ range, sampleCount, pcm, sizeBytes: 1, voiceHash: '' },
    }
  }

  function unpacked(path: string, channels: number): Promise<PcmFile> {
    const format = {
      sampleRate: RATE,
      channels,
      channelLayout: channels === 1 ? 'mono' : 'stereo',
      sample: 's16',
    } as const
    return unpackSound({ path, filters: [], format, signal: undefined }, `${path}.sent`)
  }

  async function answer(name: string, filter: string, ...options: readonly string[]): Promise<string> {
    const path = folder.file(name)
    await ffmpeg('-i', SPEECH, '-filter_complex', `[0]${filter}[out]`, '-map', '[out]', ...options, path)
    return path
  }

  it.each([
    ['as it was sent', 'anull', 0],
    ['late by 25 ms and padded', 'adelay=25,apad=pad_dur=0.3', 1200],
    ['late by one sample', 'adelay=1S', 1],
    ['early by 100 ms', 'atrim=start_sample=4800,asetpts=PTS-STARTPTS', -4800],
  ])('finds an answer %s to the sample and gives it back in place', async (name, filter, lag) => {
    const path = await answer(`${name}.wav`, filter)
    const alignment = await alignVoice(mono, path)
    expect(alignment).toMatchObject({
      lagSamples: lag,
      method: 'waveform',
      regenerated: { pcm: { format: { sample: 's16' } } },
    })
    const bytes = await collectPcm(alignedVoice(mono, alignment, { sample: 's16' }))
    expect(bytes.length).toBe(sent.length)
    const lost = Math.max(0, -lag) * 2
    expect(bytes.subarray(lost).equals(sent.subarray(lost))).toBe(true)
  })

  it('finds a sound to the sample that begins with a place, after silence', async () => {
    const filter = 'atrim=start=0.7,asetpts=PTS-STARTPTS,adelay=1500'
    const cut = await cutOf('late-sound.flac', filter, 1, 0)
    const found = await alignVoice(cut, await answer('late-answer.wav', `${filter},volume=0.5`))
    expect(found.lagSamples).toBe(0)
  })

  it('lays a mono answer on both channels at its own level', async () => {
    const alignment = await alignVoice(stereo, await answer('one-channel.wav', 'anull'))
    expect(alignment.lagSamples).toBe(0)
    const bytes = await collectPcm(alignedVoice(stereo, alignment, { sample: 's16' }))
    expect(bytes.equals(await ffmpegOutput('-i', stereo.path, '-f', 's16le', '-'))).toBe(true)
  })

  it.each(process.env.VOXMUX_SOAK ? [16_000, 44_100] : [44_100])(
    'brings an answer of %i Hz back at no lag',
    async (rate) => {
      const path = await answer(`${rate}.wav`, 'anull', '-ar', String(rate))
      const alignment = await alignVoice(mono, path)
      // What is resampled has more bits than it had.
      expect(alignment).toMatchObject({ lagSamples: 0, regenerated: { pcm: { format: { sample: 'f32' } } } })
      expect((await collectPcm(alignedVoice(mono, alignment, { sample: 's16' }))).length).toBe(sent.length)
    },
  )

  const lossy: readonly (readonly [extension: string, options: readonly string[]])[] = [
    ['mp3', ['-b:a', '96k']],
    ['opus', ['-c:a', 'libopus', '-b:a', '48k']],
    ['m4a', ['-c:a', 'aac', '-b:a', '96k']],
  ]
  it.each(process.env.VOXMUX_SOAK ? lossy : lossy.slice(0, 1))(
    'finds a lossy %s answer to the sample',
    async (extension, options) => {
      const alignment = await alignVoice(mono, await answer(`lossy.${extension}`, 'anull', ...options))
      expect(alignment).toMatchObject({ lagSamples: 0, regenerated: { pcm: { format: { sample: 'f32' } } } })
    },
  )

  it('takes its part of an answer that is the whole file', async () => {
    // The cut is a segment that begins 96000 samples into the file; what comes back is the file.
    const segment: VoiceCut = await cutOf('segment.flac', 'anull', 1, 96_000)
    const path = await answer('whole.wav', 'adelay=96010S,apad=pad_dur=2')
    const alignment = await alignVoice(segment, path)
    expect(alignment).toMatchObject({ lagSamples: 10, regenerated: { startSample: 96_000 } })
    const bytes = await collectPcm(alignedVoice(segment, alignment, { sample: 's16' }))
    expect(bytes.equals(sent)).toBe(true)
  })

  describe('beside a clap that has more power than all words', () => {
    const spoken = 'aloop=loop=3:size=144000,volume=0.05'
    const clapped = `${spoken},aeval='if(between(t,4.2,4.35),random(0)-0.5,val(0))'`
    const calmed = `${spoken},volume=0:enable='between(t,4.2,4.35)'`
    let take: VoiceCut
    beforeAll(async () => {
      take = await cutOf('take.flac', clapped, 1, 0)
    })

    it('finds the voice without it to the sample', async () => {
      const path = await answer('calmed.wav', `${calmed},adelay=25`)
      expect(await alignVoice(take, path)).toMatchObject({ lagSamples: 1200, method: 'waveform' })
    })

    it('does not take words for one: refuses the noise behind them', async () => {
      const noise = `apad=pad_dur=9,aeval='val(0)+(random(0)-0.5)*0.01'`
      const words = await cutOf('words.flac', `volume=0:enable='gt(t,1.2)',${noise}`, 1, 0)
      const path = await answer('noise.wav', `volume=0,${noise}`)
      await expect(alignVoice(words, path)).rejects.toMatchObject({ code: 'ERR_ALIGNMENT' })
    })

    it.each([
      ['another sound', `${calmed},areverse`],
      ['silence', `${calmed},volume=0`],
      ['all but its first second silent', `${calmed},volume=0:enable='gt(t,1)'`],
    ])('refuses %s', async (name, filter) => {
      const path = await answer(`clap and ${name}.wav`, filter)
      const code = expect.stringMatching(/^ERR_ALIGNMENT/)
      await expect(alignVoice(take, path)).rejects.toMatchObject({ code, exitCode: 7 })
    })
  })

  it('compares a long file at places spread over it, and finds silence all right', async () => {
    const path = folder.file('long.flac')
    await ffmpeg('-stream_loop', '29', '-i', SPEECH, path)
    const pcm = await unpacked(path, 1)
    const { sampleCount } = pcm
    const long: VoiceCut = { ...mono, path, range: { startSample: 0, endSample: sampleCount }, sampleCount, pcm }
    const late = folder.file('long-late.wav')
    await ffmpeg('-i', path, '-af', 'adelay=7S', late)
    expect(await alignVoice(long, late)).toMatchObject({ lagSamples: 7, method: 'waveform' })
    const silence = folder.file('silence.flac')
    await ffmpeg('-i', SPEECH, '-af', 'volume=0', silence)
    expect(await alignVoice({ ...mono, pcm: await unpacked(silence, 1) }, silence)).toMatchObject({
      lagSamples: 0,
      method: 'silence',
    })
  })

  it.each([
    // Played backwards its vowels are still alike: pieces of it are found, each elsewhere.
    ['another sound', 'areverse', expect.stringMatching(/^ERR_ALIGNMENT/)],
    ['silence', 'volume=0', 'ERR_ALIGNMENT'],
    ['its second half missing', 'atrim=end=1.5', 'ERR_ALIGNMENT'],
    [
      '5 ms late from the middle on',
      'asplit[a][b];[a]atrim=end=1.5[x];[b]atrim=start=1.495,asetpts=PTS-STARTPTS[y];[x][y]concat=n=2:v=0:a=1',
      'ERR_ALIGNMENT_DRIFT',
    ],
  ])('refuses %s', async (name, filter, code) => {
    const path = await answer(`${name}.wav`, filter)
    await expect(alignVoice(mono, path)).rejects.toMatchObject({ code, exitCode: 7 })
  })

  it('refuses what cannot be decoded', async () => {
    const text = fileURLToPath(new URL('../../../fixtures/text.mp4', import.meta.url))
    await expect(alignVoice(mono, text)).rejects.toMatchObject({ code: 'ERR_ANSWER_UNREADABLE', exitCode: 7 })
  })
})
