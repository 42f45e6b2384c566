import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { frameRate } from '../../../plugins/timelines/index.js'
import { readTimeline } from '../../../plugins/timelines/read-timeline.js'
import { timecodeTime } from '../../../plugins/timelines/time/media-clock.js'
import { type Rational, rational } from '../../../plugins/timelines/time/rational.js'
import type { Timeline } from '../../../plugins/timelines/timeline.js'
import { sampleRangeOf } from '../../../plugins/timelines/used-ranges.js'
import { mergeRanges } from '../../../src/pipeline/plan/segments.js'

const SAMPLE_RATE = 48_000

async function read(name: string, rate = '25'): Promise<Timeline> {
  const path = fileURLToPath(new URL(`samples/${name}`, import.meta.url))
  const file = { path, textPath: path, text: await readFile(path, 'utf8'), extension: extname(path) }
  return readTimeline({ ...file, encoding: 'utf8', needsFrameRate: false }, frameRate(rate) as Rational)
}

/** `first-last` of every merged range, by the name of its file; `origin` of those whose own timecode counts. */
function samplesByFile({ sources, uses }: Timeline, origin: Rational): Record<string, readonly string[]> {
  const byFile: Record<string, readonly string[]> = {}
  for (const source of sources) {
    const laidOn = { origin: source.origin ?? origin, sampleRate: SAMPLE_RATE, sampleCount: null }
    const ranges = uses.filter((use) => use.sourceId === source.id).map(({ range }) => sampleRangeOf(range, laidOn))
    const merged = mergeRanges(ranges.filter((range) => range !== undefined))
    byFile[source.name] = merged.map(({ startSample, endSample }) => `${startSample}-${endSample}`)
  }
  return byFile
}

const kinds = ({ notes }: Timeline) => notes.map(({ kind, subject }) => `${kind} ${subject}`)

/**
 * The expected samples are worked out by hand. A frame at 48 kHz is 2002 samples at 23.976, 2000 at 24, 1920 at 25,
 * 1601.6 at 29.97 and 800.8 at 59.94; a range begins in the sample in which its first frame begins, and ends in that
 * in which its last one ends.
 */
describe('a timeline at', () => {
  it('25 (OTIO): trims, transitions, nested stacks, speed, what is off, missing or generated', async () => {
    const cut = await read('pal-25.otio')
    expect(samplesByFile(cut, rational(0))).toEqual({
      // 137-178 and 7 of the transition; 20-60 of the nest less its 30 begins at 10 of its clip, 500-550; 1000-1025.
      'A.mov': [`${137 * 1920}-${185 * 1920}`, `${510 * 1920}-${550 * 1920}`, `${1000 * 1920}-${1025 * 1920}`],
      // 5 frames of the transition before 96001.
      'B 1.wav': [`${96_001 - 5 * 1920}-${96_001 + 48_000}`],
    })
    expect(kinds(cut)).toEqual(['disabled Off', 'speed Slow', 'missing-reference Lost', 'generator Tone'])
  })

  it('24 and 29.97 in one (OTIO, clips of the old schema): the first without a range of its media', async () => {
    const cut = await read('film-24.otio')
    expect(samplesByFile(cut, rational(3600))).toEqual({ 'S1.mov': ['200000-230000'], 'DF.mov': ['11211-17618'] })
  })

  it('23.976 (FCPXML): split edits, transitions, compound, multicam, retimed, roles and what is off', async () => {
    const cut = await read('ndf-23976.fcpxml')
    expect(samplesByFile(cut, rational(0))).toEqual({
      'A001 take 2.mov': [
        `${48 * 2002}-${78 * 2002}`,
        `${130 * 2002}-${154 * 2002}`,
        `${200 * 2002}-${260 * 2002}`,
        `${600 * 2002}-${648 * 2002}`,
      ],
      'Boom.wav': [`${24 * 2002}-${72 * 2002}`],
    })
    expect(kinds(cut)).toEqual(['role Song', 'speed Fast', 'disabled Off'])
  })

  it('29.97 (FCP7 XML): transitions, nested sequences, speed, what is off or has no file', async () => {
    const cut = await read('ntsc-2997.xml')
    expect(samplesByFile(cut, rational(0))).toEqual({
      'Interview & B-roll.mov': ['480480-640640', '3203200-3289687', '6486480-6646640'],
      'room.wav': ['1612811-1699298', '4804800-4964960', '9609600-9769760'],
    })
    expect(kinds(cut)).toEqual(['disabled Muted', 'missing-reference Lost', 'speed Fast', 'disabled A track of Reel 1'])
  })

  it('29.97 drop frame (EDL): over the minutes whose first numbers are left out', async () => {
    const cut = await read('df-2997.edl', '29.97')
    const origin = timecodeTime('00:59:50;00', rational(30_000, 1001)) as Rational
    expect(samplesByFile(cut, origin)).toEqual({ 'A001C003.MOV': ['964163-1065064', '3347344-3379376'] })
    expect(kinds(cut)).toEqual(['generator BL'])
  })

  it('59.94 (EDL): reels, a dissolve with its outgoing side, a motion effect', async () => {
    const cut = await read('ndf-5994.edl', '59.94')
    const origin = timecodeTime('10:00:00:00', rational(60_000, 1001)) as Rational
    expect(samplesByFile(cut, origin)).toEqual({
      CARD1: ['264264-341942'],
      // Its name stands under the other side of the dissolve.
      'CARD1.MXF': ['960960-980180'],
      'CARD2.MXF': ['1441440-1489488'],
      CARD2: ['1921920-2018016'],
    })
    expect(kinds(cut)).toEqual(['speed CARD2'])
  })
})

/** One event of an EDL, over an hour of timecode. */
function oneEvent(mode: string, from: string, to: string, rate: string): Timeline {
  const text = `TITLE: T\nFCM: ${mode}\n\n001  A001 A C ${from} ${to} ${from} ${to}\n* FROM CLIP NAME: A001.MOV\n`
  return readTimeline(
    { path: 'x.edl', textPath: 'x.edl', text, extension: '.edl', encoding: 'utf8', needsFrameRate: true },
    frameRate(rate) as Rational,
  )
}

// Frames since the hour, by hand, times samples a frame; an hour in, so that any drift would show.
describe('an event an hour in, to the sample', () => {
  it.each([
    // 107 892 frames of drop frame are an hour; of non-drop frame 108 000, which takes 3603.6 s.
    ['29.97', 'DROP FRAME', '02:00:10;00', '02:00:12;00', '01:00:00;00', 1601.6, 107_892 + 300, 107_892 + 360],
    ['29.97', 'NON-DROP FRAME', '02:00:10:00', '02:00:12:00', '01:00:00:00', 1601.6, 108_000 + 300, 108_000 + 360],
    ['59.94', 'DROP FRAME', '02:00:59;59', '02:01:00;06', '01:00:00;00', 800.8, 215_784 + 3599, 215_784 + 3602],
    ['59.94', 'NON-DROP FRAME', '02:00:59:59', '02:01:00:06', '01:00:00:00', 800.8, 216_000 + 3599, 216_000 + 3606],
    ['23.976', 'NON-DROP FRAME', '02:00:10:00', '02:00:12:01', '01:00:00:00', 2002, 86_400 + 240, 86_400 + 289],
  ] as const)('%s %s', (rate, mode, from, to, zero, samplesAFrame, first, end) => {
    const origin = timecodeTime(zero, frameRate(rate) as Rational) as Rational
    const [ranges] = Object.values(samplesByFile(oneEvent(mode, from, to, rate), origin))
    // Rounded first: 1601.6 is no binary number.
    const samples = (frames: number) => Math.round(frames * samplesAFrame * 10) / 10
    expect(ranges).toEqual([`${Math.floor(samples(first))}-${Math.ceil(samples(end))}`])
  })
})

describe('frame rates', () => {
  it.each([
    ['23.976', '24000/1001'],
    ['23.98', '24000/1001'],
    ['23.976023976023978', '24000/1001'],
    ['29.97', '30000/1001'],
    ['29.97002997002997', '30000/1001'],
    ['59.94', '60000/1001'],
    ['24', '24/1'],
    ['24.0', '24/1'],
    ['25', '25/1'],
    ['48000', '48000/1'],
    ['12.5', '25/2'],
  ])('%s is %s', (text, exact) => {
    const rate = frameRate(text)
    expect(`${rate?.numerator}/${rate?.denominator}`).toBe(exact)
  })

  it.each(['', '0', '-25', 'PAL', '1e999', '1/0'])('%j is none', (text) => expect(frameRate(text)).toBeUndefined())
})
