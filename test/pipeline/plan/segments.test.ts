import { describe, expect, it } from 'vitest'
import type { MediaInfo } from '../../../src/media/media-info.js'
import { previewRanges } from '../../../src/pipeline/plan/plan-tracks.js'
import { mergeRanges, parseSegment, planSegments, withHandles } from '../../../src/pipeline/plan/segments.js'
import fc from '../../helpers/properties.js'

const RATE = 48_000

function media(durationSec: number | null, chapters: MediaInfo['chapters'] = []): MediaInfo {
  return {
    path: '/clip.mp4',
    sizeBytes: 1,
    formatName: 'mov,mp4,m4a,3gp,3g2,mj2',
    container: 'mp4',
    startSec: 0,
    durationSec,
    bitRate: null,
    tags: {},
    streams: [],
    chapters,
  }
}

describe('parseSegment', () => {
  it.each([
    ['12.5-60', { startSec: 12.5, endSec: 60 }],
    ['1:02-1:30.5', { startSec: 62, endSec: 90.5 }],
    ['00:01:00.250-01:00:00', { startSec: 60.25, endSec: 3600 }],
    ['90-', { startSec: 90, endSec: null }],
    ['-10', { startSec: 0, endSec: 10 }],
    ['10:00:01:00-10:00:02;12', { startTimecode: '10:00:01:00', endTimecode: '10:00:02;12' }],
    ['chapter:Interview', { chapter: 'Interview' }],
    ['chapter:"Two - words"', { chapter: 'Two - words' }],
  ])('reads %s', (text, segment) => {
    expect(parseSegment(text)).toEqual(segment)
  })

  it.each(['', '-', '5', 'a-b', '1-2-3', '1:75-2:00', '-5-10', '10:00:01:00-'])('refuses %j', (text) => {
    expect(() => parseSegment(text)).toThrow(expect.objectContaining({ code: 'ERR_SEGMENT_SYNTAX', exitCode: 2 }))
  })
})

describe('planSegments', () => {
  it('covers the whole track without segments', () => {
    expect(planSegments(media(10), [], RATE)).toEqual([{ startSample: 0, endSample: null }])
  })

  it('clamps at the end of the file and leaves that end open', () => {
    expect(planSegments(media(10), [{ startSec: 5, endSec: 99 }], RATE)).toEqual([
      { startSample: 5 * RATE, endSample: null },
    ])
  })

  it('finds a chapter by its title, whatever its case and Unicode form', () => {
    const chapters = [{ startSec: 1, endSec: 2, title: 'Caf\u00e9' }]
    expect(planSegments(media(10, chapters), [{ chapter: 'cafe\u0301' }], RATE)).toEqual([
      { startSample: RATE, endSample: 2 * RATE },
    ])
  })

  it.each([
    ['ERR_SEGMENT_BACKWARDS', { startSec: 5, endSec: 5 }],
    ['ERR_SEGMENT_BACKWARDS', { startSec: 5, endSec: 4 }],
    ['ERR_SEGMENT_OUTSIDE', { startSec: 10, endSec: 12 }],
    ['ERR_SEGMENT_CHAPTER', { chapter: 'none' }],
  ])('refuses with %s', (code, segment) => {
    expect(() => planSegments(media(10), [segment], RATE)).toThrow(expect.objectContaining({ code, exitCode: 2 }))
  })

  const anySegment = fc
    .tuple(fc.double({ min: 0, max: 99, noNaN: true }), fc.double({ min: 0.001, max: 50, noNaN: true }))
    .map(([startSec, lengthSec]) => ({ startSec, endSec: startSec + lengthSec }))

  it('gives ordered, disjoint ranges inside the file that cover exactly the samples asked for', () => {
    fc.assert(
      fc.property(fc.array(anySegment, { minLength: 1, maxLength: 8 }), (segments) => {
        const rate = 100
        const planned = planSegments(media(100), segments, rate)
        const total = 100 * rate
        const wanted = new Set<number>()
        for (const { startSec, endSec } of segments) {
          const end = endSec >= 100 ? total : Math.round(endSec * rate)
          for (let sample = Math.round(startSec * rate); sample < end; sample++) wanted.add(sample)
        }
        let covered = 0
        let last = -1
        for (const { startSample, endSample } of planned) {
          expect(startSample).toBeGreaterThan(last)
          last = endSample ?? total
          expect(last).toBeLessThanOrEqual(total)
          covered += last - startSample
        }
        expect(covered).toBe(wanted.size)
      }),
    )
  })
})

describe('ranges', () => {
  it('merges what overlaps or touches', () => {
    const merged = mergeRanges([
      { startSample: 50, endSample: 60 },
      { startSample: 0, endSample: 10 },
      { startSample: 10, endSample: 20 },
      { startSample: 55, endSample: null },
      { startSample: 70, endSample: 80 },
    ])
    expect(merged).toEqual([
      { startSample: 0, endSample: 20 },
      { startSample: 50, endSample: null },
    ])
  })

  it('keeps the first samples of several ranges for a preview', () => {
    const ranges = [
      { startSample: 10, endSample: 20 },
      { startSample: 40, endSample: null },
    ]
    expect(previewRanges(ranges, 5, null)).toEqual([{ startSample: 10, endSample: 15 }])
    expect(previewRanges(ranges, 25, 56)).toEqual([
      { startSample: 10, endSample: 20 },
      { startSample: 40, endSample: 55 },
    ])
    const toEnd = [
      { startSample: 10, endSample: 20 },
      { startSample: 40, endSample: null },
    ]
    for (const samples of [26, 27, 1e9]) expect(previewRanges(ranges, samples, 56)).toEqual(toEnd)
  })

  it('adds handles as far as the file reaches', () => {
    expect(withHandles({ startSample: 5, endSample: 20 }, 10)).toEqual({ startSample: 0, endSample: 30 })
    expect(withHandles({ startSample: 50, endSample: null }, 10)).toEqual({ startSample: 40, endSample: null })
  })
})
