import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alignVoice } from '../../../src/media/align/align-voice.js'
import { cutVoice, probe } from '../../../src/media/index.js'
import type { VoiceCut } from '../../../src/media/voice-cut.js'
import { processFile } from '../../../src/service/engine/process-file.js'
import { VoicePool } from '../../../src/voice/index.js'
import { ffmpeg, type TestFolder, testFolder } from '../../helpers/media-factory.js'

const SPEECH = ['-i', fileURLToPath(new URL('../../../fixtures/speech.wav', import.meta.url))]
const made = (source: string) => ['-f', 'lavfi', '-i', source]
const formula = (expression: string, rate = 48_000) => made(`aevalsrc='${expression}':d=3:s=${rate}`)
const speechWith = (other: string, gain: number) => [
  ...SPEECH,
  ...formula(other),
  '-filter_complex',
  `[0]aresample=48000[a];[1]volume=${gain}[b];[a][b]amix=inputs=2:normalize=0:duration=first`,
]

/** Kinds of sound that are not plain speech, as ffmpeg makes them. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  'a tone': made('sine=440:d=4:r=48000'),
  'a low tone of 8 kHz': made('sine=200:d=3:r=8000'),
  'a stereo tone of 8 bits and 11 kHz': [
    ...['-f', 'lavfi', '-i', 'sine=440:d=3.2:r=11025', '-ac', '2', '-af', 'aformat=sample_fmts=u8'],
  ],
  'a tone with its overtones': formula('0.3*(mod(t*120,1)-0.5)*(0.5+0.5*sin(2*PI*1.3*t))'),
  'a chirp': formula('0.4*sin(2*PI*(100*t+400*t*t))'),
  chords: formula('0.15*(sin(1644*t)+sin(2071*t)+sin(2463*t))*(0.6+0.4*sin(12.6*t))', 44_100),
  'tones that change sides': formula('0.3*sin(2765*t)*lt(mod(t,2),1)|0.3*sin(4147*t)*gte(mod(t,2),1)'),
  'white noise': made('anoisesrc=a=0.2:d=3:r=48000:seed=1'),
  clicks: formula('if(lt(mod(t,0.5),0.0005),0.8,0)'),
  'speech of 8 bits and 8 kHz': [...SPEECH, '-af', 'aresample=8000,aformat=sample_fmts=u8'],
  'very quiet speech': [...SPEECH, '-af', 'volume=-45dB'],
  'one word in silence': [...SPEECH, '-af', 'atrim=end=0.6,adelay=2000:all=1,apad=pad_dur=2'],
  'a quarter of a second': [...SPEECH, '-af', 'atrim=start=0.2:end=0.45'],
  'speech beside a silent channel': [...SPEECH, '-af', 'pan=stereo|c0=c0|c1=0*c0'],
  'speech under a tone': speechWith('0.125*sin(2765*t)', 6),
  'speech under chords': speechWith('0.15*(sin(1644*t)+sin(2071*t)+sin(2463*t)+sin(4926*t)+sin(6572*t))', 4),
}

/** Kinds that only the soak hears. */
const RARE = [
  ...['speech of 8 bits and 8 kHz', 'clicks'],
  ...['a tone', 'a low tone of 8 kHz', 'a stereo tone of 8 bits and 11 kHz', 'tones that change sides'],
  ...['one word in silence', 'a quarter of a second', 'speech under chords'],
]
const HEARD = Object.keys(KINDS).filter((kind) => process.env.VOXMUX_SOAK || !RARE.includes(kind))

describe('regenerated audio of the embedded engine', () => {
  let folder: TestFolder
  let pool: VoicePool
  const cuts = new Map<string, VoiceCut>()

  beforeAll(async () => {
    folder = await testFolder()
    pool = new VoicePool({ workers: 1 })
  })
  afterAll(async () => {
    await pool.close()
    await folder.remove()
  })

  /** The cut of a kind of sound, with its regenerated audio beside it. */
  async function regenerated(kind: string): Promise<{ cut: VoiceCut; answer: string }> {
    const answer = folder.file(`${kind}.answer.flac`)
    const known = cuts.get(kind)
    if (known) return { cut: known, answer }
    const path = folder.file(`${kind}.wav`)
    await ffmpeg(...(KINDS[kind] ?? []), path)
    const target = { targetWithoutExtension: folder.file(`${kind}.cut`), range: { startSample: 0, endSample: null } }
    const [cut] = await cutVoice(await probe(path), [{ audioIndex: 0, channels: { kind: 'all' }, ...target }])
    if (!cut) throw new Error(`${kind} was not cut`)
    // Without limits, so that the service regenerates what it would refuse for want of a voice.
    await processFile({ input: cut.path, output: answer, outputType: 'flac', pool, limits: {} })
    cuts.set(kind, cut)
    return { cut, answer }
  }

  it.each(HEARD)('is placed where it was sent: %s', async (kind) => {
    const { cut, answer } = await regenerated(kind)
    expect(await alignVoice(cut, answer)).toMatchObject({ lagSamples: 0 })
  })

  it.each(process.env.VOXMUX_SOAK ? ['speech under a tone', 'chords', 'white noise'] : ['chords'])(
    'is found 25 ms late: %s',
    async (kind) => {
      const { cut, answer } = await regenerated(kind)
      const late = folder.file('late.flac')
      await ffmpeg('-i', answer, '-af', 'adelay=25:all=1', late)
      expect((await alignVoice(cut, late)).lagSamples).toBe(Math.floor(0.025 * cut.sampleRate))
    },
  )

  it.each([
    ['a tone with its overtones', 'ERR_ALIGNMENT_DRIFT'],
    ['a chirp', 'ERR_ALIGNMENT_DRIFT'],
    ['speech beside a silent channel', 'ERR_ALIGNMENT_DRIFT'],
  ])('is refused if it jumps by 5 ms: %s', async (kind, code) => {
    const { cut, answer } = await regenerated(kind)
    const jumped = folder.file('jumped.flac')
    const parts = '[a]atrim=end=1[x];[b]atrim=start=0.995,asetpts=PTS-STARTPTS[y];[x][y]concat=n=2:v=0:a=1'
    await ffmpeg('-i', answer, '-filter_complex', `[0]asplit[a][b];${parts}`, jumped)
    await expect(alignVoice(cut, jumped)).rejects.toMatchObject({ code })
  })

  const mixedUp = [
    ['a chirp', 'speech under a tone'],
    ['very quiet speech', 'white noise'],
  ] as const
  const further = [
    ['white noise', 'clicks'],
    ['a chirp', 'chords'],
    ['speech under chords', 'a chirp'],
  ] as const

  it.each(process.env.VOXMUX_SOAK ? [...mixedUp, ...further] : mixedUp)(
    'is refused as the answer to another sound: %s for %s',
    async (other, kind) => {
      const { cut } = await regenerated(kind)
      const { answer } = await regenerated(other)
      await expect(alignVoice(cut, answer)).rejects.toMatchObject({ exitCode: 7 })
    },
  )
})
