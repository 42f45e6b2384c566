import { describe, expect, it } from 'vitest'
import { DEFAULT_SERVICE_LIMITS, type Limits } from '../../src/precheck/limits.js'
import { RULES, runRules } from '../../src/precheck/run-rules.js'
import { type Subject, type SubjectTrack, subjectOfVoice } from '../../src/precheck/subject.js'
import { refusalError } from '../../src/precheck/verdict.js'

const track: SubjectTrack = {
  audioIndex: 0,
  codec: 'aac',
  sampleRate: 48_000,
  channels: 2,
  channelLayout: 'stereo',
  bitDepth: null,
  language: 'eng',
  title: null,
  isDefault: true,
}

const good: Subject = {
  unreadable: null,
  container: 'mp4',
  sizeBytes: 5_000_000,
  durationSec: 60,
  tracks: [track],
  voicedSec: 30,
  linkValidSec: null,
}

const withTrack = (changes: Partial<SubjectTrack>): Subject => ({ ...good, tracks: [{ ...track, ...changes }] })

/** [code, subject, limits, message] */
const CASES: readonly [number, Subject, Limits, string][] = [
  [-2, { ...good, unreadable: 'its index is missing' }, {}, 'The file cannot be read: its index is missing.'],
  [-3, { ...good, voicedSec: 0 }, {}, 'No voice was found.'],
  [-3, { ...good, voicedSec: 0.1 }, { minVoiceSec: 1 }, 'Only 100 ms of 60 s seem to contain a voice.'],
  [-4, withTrack({ channels: 6, channelLayout: '5.1(side)' }), {}, '6 channels (5.1), at most 2 are accepted.'],
  [-4, withTrack({ channels: 12, channelLayout: null }), {}, '12 channels, at most 2 are accepted.'],
  [-4, good, { maxChannels: 1 }, '2 channels (stereo), at most 1 are accepted.'],
  [
    -5,
    withTrack({ sampleRate: 384_000 }),
    { maxSampleRate: 192_000 },
    'Sample rate 384 kHz, at most 192 kHz is accepted.',
  ],
  [-5, withTrack({ bitDepth: 32 }), { maxBitDepth: 24 }, '32 bits per sample, at most 24 are accepted.'],
  [-6, withTrack({ sampleRate: 4000 }), { minSampleRate: 8000 }, 'Sample rate 4 kHz, at least 8 kHz is required.'],
  [-7, withTrack({ isEncrypted: true }), {}, 'It is encrypted, so its sound cannot be read.'],
  [-2, withTrack({ isUntimed: true }), {}, 'The index of the file states no times for a part of it.'],
  [-7, withTrack({ codec: null }), {}, 'Its codec has no known decoder.'],
  [-7, withTrack({ codec: 'dts' }), { codecs: ['aac', 'flac'] }, 'Codec dts, accepted are aac, flac.'],
  [
    -8,
    {
      ...good,
      tracks: [
        track,
        { ...track, audioIndex: 1, language: 'ger', channels: 6, channelLayout: '5.1', isDefault: false },
        { ...track, audioIndex: 2, language: null, title: 'Director', isDefault: false },
      ],
    },
    { maxChannels: 8 },
    '3 audio tracks: 0 English stereo (default), 1 German 5.1, 2 stereo "Director".',
  ],
  [
    -2,
    withTrack({ sampleRate: 0, channels: 0 }),
    {},
    'Audio track 0 states no sample rate and no channels, so its sound cannot be read.',
  ],
  [-2, withTrack({ sampleRate: 0 }), {}, 'Audio track 0 states no sample rate, so its sound cannot be read.'],
  [-2, withTrack({ channels: 0 }), {}, 'Audio track 0 states no channels, so its sound cannot be read.'],
  [-6, withTrack({ sampleRate: 1 }), { minSampleRate: 8000 }, 'Sample rate 1 Hz, at least 8 kHz is required.'],
  [-13, good, { maxSizeBytes: 1_000_000 }, '5 MB, at most 1 MB are accepted.'],
  [-14, { ...good, durationSec: 0.02 }, { minDurationSec: 0.1 }, '20 ms of sound, at least 100 ms are required.'],
  [-14, { ...good, durationSec: 0 }, {}, '0 ms of sound.'],
  [-15, { ...good, durationSec: 7300 }, { maxDurationSec: 3600 }, '2 h 01 min long, at most 1 h 00 min are accepted.'],
  [-16, good, { containers: ['wav', 'flac'] }, 'Container mp4, accepted are wav, flac.'],
  [-17, { ...good, linkValidSec: 600 }, {}, 'The link expires in 10 min 00 s; the service needs it for an hour.'],
  [-18, { ...good, tracks: [] }, {}, 'The file has no audio track.'],
]

describe('runRules', () => {
  it.each(CASES)('%i: says what is wrong in the terms of the file', (errorCode, subject, limits, message) => {
    const verdicts = runRules(subject, limits)
    expect(verdicts.map((found) => [found.errorCode, found.message])).toEqual([[errorCode, message]])
    expect(verdicts[0]?.remedies.length).toBeGreaterThan(0)
  })

  it('has a case for each of its rules', () => {
    const covered = new Set(CASES.map(([code]) => code))
    expect(RULES.map((rule) => rule.errorCode).filter((code) => !covered.has(code))).toEqual([])
  })

  it('takes a plain file, with and without limits', () => {
    expect(runRules(good, {})).toEqual([])
    expect(runRules(good, DEFAULT_SERVICE_LIMITS)).toEqual([])
  })

  it('checks no limit that is not known', () => {
    const huge = { ...withTrack({ sampleRate: 768_000, bitDepth: 64 }), sizeBytes: 1e15, durationSec: 1e7 }
    expect(runRules(huge, {})).toEqual([])
  })

  it('tells all problems at once', () => {
    const bad = { ...withTrack({ channels: 6, codec: 'dts' }), durationSec: 1e6, sizeBytes: 1e13 }
    const limits = { maxDurationSec: 10, maxSizeBytes: 10, codecs: ['aac'], containers: ['wav'] }
    expect(runRules(bad, limits).map(({ errorCode }) => errorCode)).toEqual([-7, -4, -16, -13, -15])
  })

  it('warns of missing voice, and refuses only where it is required', () => {
    const silent = { ...good, voicedSec: 0 }
    expect(runRules(silent, {})[0]?.severity).toBe('warn')
    expect(runRules(silent, { requireVoice: true })[0]?.severity).toBe('refuse')
  })
})

describe('subjectOfVoice', () => {
  it('is taken by the embedded service whatever the file around it was', () => {
    const source = { ...track, bitDepth: 32, codec: 'pcm_s32le' }
    const encoding = { format: 'wav', bits: 32 } as const
    const voice = subjectOfVoice({ track: source, channels: 1, channelLayout: 'mono', durationSec: 9, encoding })
    expect(voice.tracks[0]).toMatchObject({ codec: 'pcm_s32le', bitDepth: 32, channels: 1 })
    expect(runRules(voice, DEFAULT_SERVICE_LIMITS)).toEqual([])
  })
})

describe('refusalError', () => {
  it('names the file and every refusal; the first gives the code', () => {
    const verdicts = runRules({ ...withTrack({ channels: 6 }), durationSec: 0.02 }, { minDurationSec: 0.1 })
    const error = refusalError('a.mov', verdicts)
    expect(error).toMatchObject({ exitCode: 5, code: 'ERR_TOO_MANY_CHANNELS', errorCode: -4 })
    expect(error?.message).toBe(
      'a.mov: 6 channels (stereo), at most 2 are accepted; 20 ms of sound, at least 100 ms are required.',
    )
  })

  it('is undefined where there are only warnings', () => {
    expect(refusalError('a.mov', runRules({ ...good, voicedSec: 0 }, {}))).toBeUndefined()
  })
})
