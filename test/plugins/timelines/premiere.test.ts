import { readFile, writeFile } from 'node:fs/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { planTimeline, regenerateTimeline } from '../../../plugins/timelines/index.js'
import { readTimeline } from '../../../plugins/timelines/read-timeline.js'
import { rational } from '../../../plugins/timelines/time/rational.js'
import { sampleRangeOf } from '../../../plugins/timelines/used-ranges.js'
import { jobBench } from '../../helpers/job-bench.js'
import {
  FRAME,
  type PremiereClip,
  type PremiereSequence,
  type PremiereTrack,
  premiereProject,
  SAMPLE,
} from './premiere-project.js'
import { timelineRequest } from './timeline-request.js'

const bench = jobBench()

const readText = (text: string) =>
  readTimeline(
    { path: 'x', textPath: 'x', text, extension: '.prproj', encoding: 'utf8', needsFrameRate: false },
    rational(25),
  )

/** Samples of every use at 48 kHz, and what is noted. */
function read(...sequences: readonly PremiereSequence[]): readonly string[] {
  const media = ['a', 'b'].map((uid) => ({ uid: `media-${uid}`, path: `/rushes/${uid}.wav` }))
  const { uses, sources, notes } = readText(
    premiereProject(sequences, [...media, { uid: 'media-bars', path: '1112293707' }]),
  )
  const grid = { origin: rational(0), sampleRate: 48_000, sampleCount: 2_000_000_000 }
  return [
    ...uses.map(({ sourceId, range }) => {
      const { startSample, endSample } = sampleRangeOf(range, grid) ?? { startSample: -1, endSample: -1 }
      return `${sources.find(({ id }) => id === sourceId)?.name} ${startSample}-${endSample}`
    }),
    ...notes.map(({ kind, subject, message }) => `${kind} ${subject} ${message}`),
  ]
}

const sequence = (...audio: readonly PremiereTrack[]): PremiereSequence => ({ uid: 'sequence-1', audio })
const second = 48_000n * SAMPLE

/** A clip that plays from a sample of its file on, at a place of the track. */
const plays = (from: bigint, count: bigint, at: bigint, more: Partial<PremiereClip> = {}): PremiereClip => ({
  ...{ name: 'clip', plays: 'media-a', at: [at * SAMPLE, (at + count) * SAMPLE] },
  source: [from * SAMPLE, (from + count) * SAMPLE],
  ...more,
})

describe('a Premiere project', () => {
  it('is read to the sample, also after hours at 23.976', () => {
    const hours = 24n * 3600n * 5n
    const frames = {
      name: 'clip',
      plays: 'media-b',
      at: [0n, 10n * FRAME],
      source: [hours * FRAME, (hours + 10n) * FRAME],
    } as const
    expect(read(sequence({ clips: [plays(48_001n, 12_345n, 0n), frames] }))).toEqual([
      'a.wav 48001-60346',
      `b.wav ${hours * 2002n}-${(hours + 10n) * 2002n}`,
    ])
  })

  it('plays clips to the far ends of their transitions', () => {
    const clips = [plays(10_000n, 5000n, 0n), plays(50_000n, 5000n, 5000n), plays(90_000n, 5000n, 20_000n)]
    const transitions = [[4000n * SAMPLE, 5500n * SAMPLE]] as const
    expect(read(sequence({ clips, transitions }))).toEqual([
      'a.wav 10000-15500',
      'a.wav 49000-55000',
      'a.wav 90000-95000',
    ])
  })

  it('plays of a nested sequence only what the other uses', () => {
    const inner = { uid: 'sequence-2', audio: [{ clips: [plays(1000n, 5000n, 0n), plays(70_000n, 5000n, 5000n)] }] }
    const outer = sequence({ clips: [plays(3000n, 4000n, 100n, { plays: 'sequence-2' })] })
    expect(read(inner, outer)).toEqual(['a.wav 4000-6000', 'a.wav 70000-72000'])
  })

  it('takes the range that a clip with another speed can cover, and notes it', () => {
    const twice = {
      at: [0n, second],
      source: [second, 3n * second],
      clipMore: '<PlaybackSpeed>2</PlaybackSpeed>',
    } as const
    expect(read(sequence({ clips: [plays(0n, 0n, 0n, twice)] }))).toEqual([
      'a.wav 48000-144000',
      'speed clip plays at 200 %: the range it can cover is taken',
    ])
    for (const clipMore of ['<PlayBackwards>true</PlayBackwards>', '<TimeRemapping ObjectRef="9"/>'])
      expect(read(sequence({ clips: [plays(5n, 9n, 0n, { clipMore })] }))[0]).toBe('a.wav 0-2000000000')
  })

  it('notes what is muted, generated, or not understood', () => {
    const clips = [
      plays(0n, 9n, 0n, { name: 'off', itemMore: '<IsMuted>true</IsMuted>' }),
      plays(0n, 9n, 10n, { name: 'bars', plays: 'media-bars' }),
      plays(0n, 9n, 20n, { name: 'lost', plays: 'media-none' }),
      plays(0n, 9n, 30n, { name: 'odd', itemMore: '<OriginalSubClipTimeOffset>5</OriginalSubClipTimeOffset>' }),
    ]
    const muted = { clips: [plays(0n, 9n, 0n)], more: '<IsMuted>true</IsMuted>' }
    expect(read(sequence({ clips }, muted)).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      ...['disabled off', 'generator bars', 'missing-reference lost', 'unread odd', 'disabled A'],
    ])
  })

  it('has the sound of its video tracks if no audio track holds a clip', () => {
    expect(read({ ...sequence(), video: [{ clips: [plays(5n, 9n, 0n)] }] })).toEqual(['a.wav 5-14'])
  })

  it('becomes a project in which only the paths of its media are different', async () => {
    await bench.take('speech.wav')
    const media = [
      { uid: 'media-a', path: '/Volumes/Sound &amp; Co/speech.wav', relative: './speech.wav' },
      { uid: 'media-b', path: 'E:\\rushes\\gone.wav', relative: '..\\rushes\\gone.wav' },
    ]
    const text = premiereProject(
      [sequence({ clips: [plays(24_001n, 24_000n, 0n), plays(0n, 9n, 48_000n, { plays: 'media-b' })] })],
      media,
    )
    const cut = bench.folder.file('cut.prproj')
    await writeFile(cut, gzipSync(text))
    const plan = await planTimeline(timelineRequest(cut), {})
    expect(plan.sources.map(({ used }) => used)).toEqual([[{ startSample: 24_001, endSample: 48_001 }]])
    expect(plan.notes).toMatchObject([{ kind: 'offline', subject: 'gone.wav' }])
    const { event } = await regenerateTimeline(plan, bench.pipeline.context, { concurrency: 1 })
    expect(event).toMatchObject({ status: 'done', output: bench.folder.file('cut.regen.prproj'), error: null })
    const made = gunzipSync(await readFile(bench.folder.file('cut.regen.prproj'))).toString()
    const [before, after] = [text.split('\n'), made.split('\n')]
    const path = bench.folder.file('speech.regen.wav')
    expect(after.length).toBe(before.length)
    expect(after.filter((line, index) => line !== before[index]).map((line) => line.trim())).toEqual([
      '<ConformedAudioPath></ConformedAudioPath>',
      '<PeakFilePath></PeakFilePath>',
      `<RelativePath>${path}</RelativePath>`,
      `<ActualMediaFilePath>${path}</ActualMediaFilePath>`,
      `<FilePath>${path}</FilePath>`,
    ])
  })

  it('keeps its relative paths leading to the same files in another folder', async () => {
    await bench.take('speech.wav')
    const media = [
      { uid: 'media-a', path: '/gone/speech.wav', relative: './speech.wav' },
      { uid: 'media-b', path: '/b.wav', relative: '../b 100%25.wav' },
    ]
    const cut = bench.folder.file('cut.prproj')
    await writeFile(cut, gzipSync(premiereProject([sequence({ clips: [plays(0n, 24_000n, 0n)] })], media)))
    const plan = await planTimeline(timelineRequest(cut, { output: 'finished/', cwd: bench.folder.path }), {})
    await regenerateTimeline(plan, bench.pipeline.context, { concurrency: 1 })
    const made = gunzipSync(await readFile(bench.folder.file('finished/cut.regen.prproj'))).toString()
    expect(made).toContain('<RelativePath>../../b 100%25.wav</RelativePath>')
  })
})

describe('a hostile project', () => {
  const refusal = async (bytes: Buffer) => {
    const cut = bench.folder.file('cut.prproj')
    await writeFile(cut, bytes)
    return planTimeline(timelineRequest(cut), {}).then(
      () => 'read',
      ({ code, message }) => `${code} ${message}`,
    )
  }

  it('is refused in one sentence', async () => {
    const bomb = gzipSync(Buffer.alloc(300 * 1024 ** 2, ' '), { level: 1 })
    expect(await refusal(bomb)).toMatch(/ERR_TIMELINE_UNREADABLE.*larger than any timeline/)
    const crowd = gzipSync(`<PremiereData>${'<a/>'.repeat(1_000_000)}</PremiereData>`)
    expect(await refusal(crowd)).toMatch(/ERR_TIMELINE_UNREADABLE.*more elements than a timeline of its size/)
    const whole = gzipSync(premiereProject([], []))
    expect(await refusal(whole.subarray(0, 100))).toMatch(/ERR_TIMELINE_UNREADABLE.*does not unzip/)
    expect(await refusal(gzipSync('<xmeml/>'))).toMatch(/ERR_TIMELINE_UNREADABLE.*not PremiereData/)
    expect(await refusal(gzipSync('<!DOCTYPE a [<!ENTITY b "c">]><PremiereData/>'))).toMatch(/declares entities/)
    expect(await refusal(whole)).toMatch(/ERR_TIMELINE_SILENT/)
  })

  it('is refused if its sequences contain one another, or if objects name each other in a circle', () => {
    const nested = (uid: string, other: string) => ({
      uid,
      audio: [{ clips: [plays(0n, 9n, 0n, { plays: other }), plays(0n, 9n, 9n, { plays: other })] }],
    })
    const circle = premiereProject([nested('sequence-1', 'sequence-2'), nested('sequence-2', 'sequence-1')], [])
    expect(() => readText(circle)).toThrow(/contain one another|too many/)
    const self = premiereProject([sequence({ clips: [plays(0n, 9n, 0n)] })], [])
    // Every reference leads to the object that holds it, or to none.
    const own = self.replaceAll(/ObjectRef="\d+"/g, 'ObjectRef="101"')
    expect(readText(own).uses).toEqual([])
    expect(readText(self.replaceAll(/<(End|OutPoint)>\d+/g, '<$1>99999999999999999999')).uses).toEqual([])
  })
})
