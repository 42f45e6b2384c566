import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { probe } from '../../../src/media/index.js'
import { readEdl, readMarkers, readSegments } from '../../../src/pipeline/plan/read-segments.js'
import { planSegments } from '../../../src/pipeline/plan/segments.js'
import { timecodeFrames } from '../../../src/pipeline/plan/timecode.js'
import { fixture } from '../../helpers/job-bench.js'
import { folderOfEachTest } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfEachTest()

const EDL = `TITLE: FINAL CUT
FCM: NON-DROP FRAME

001  AX       AA/V  C        00:00:10:00 00:00:10:12 10:00:00:10 10:00:00:22
* FROM CLIP NAME: INTERVIEW.MOV
002  TAPE2    A     D    024 01:00:00:00 01:00:00:13 10:00:01:00 10:00:01:13
003  AX       AA    C        00:00:00:00 00:00:00:00 10:00:01:13 10:00:01:13
`

describe('an edit decision list', () => {
  it('names the parts that it plays, past comments, effects and events of no length', () => {
    expect(readEdl(EDL)).toEqual([
      { startTimecode: '10:00:00:10', endTimecode: '10:00:00:22' },
      { startTimecode: '10:00:01:00', endTimecode: '10:00:01:13' },
    ])
  })

  it('leaves out black, and pictures without sound if it has sound', () => {
    const heard = { startTimecode: '00:00:01:00', endTimecode: '00:00:02:00' }
    const event = (reel: string, channels: string, record: string) =>
      `001  ${reel}  ${channels}  C  00:00:00:00 00:00:01:00 ${record}\n`
    const black = event('BL', 'AA/V', '00:00:00:00 00:00:01:00')
    const picture = event('AX', 'V', '00:00:01:00 00:00:02:00')
    expect(readEdl(black + picture)).toEqual([heard])
    expect(readEdl([picture, event('AX', 'NONE', '00:00:01:00 00:00:02:00'), 'AUD  3  4\n'].join(''))).toEqual([heard])
    expect(() => readEdl(black)).toThrow(SyntaxError)
  })

  it('may begin with a million empty lines without a long calculation', () => {
    expect(() => readEdl('\n'.repeat(1_000_000))).toThrow('no event')
  })

  it('is refused if it is a list of markers, whose length is not that of the events', () => {
    const marker = '001  001  V  C  01:00:03:07 01:00:03:08 01:00:03:07 01:00:03:08\n |C:ResolveColorBlue |M:a |D:54\n'
    expect(() => readEdl(marker)).toThrow(/marker/)
  })

  it('may have semicolons everywhere', () => {
    const parts = [{ startTimecode: '01:00:03;07', endTimecode: '01:00:05;11' }]
    expect(readEdl('1 AX AA/V C 01;00;03;07 01;00;05;11 01;00;03;07 01;00;05;11')).toEqual(parts)
  })

  it('is laid on the timecode of the file', async () => {
    const media = await probe(fixture('timecode.mov'))
    expect(planSegments(media, readEdl(EDL), 48_000)).toEqual([
      { startSample: 0.4 * 48_000, endSample: 0.88 * 48_000 },
      { startSample: 48_000, endSample: 1.52 * 48_000 },
    ])
  })

  it('is laid from its whole hour on a file without timecode, and refused where the file begins later', async () => {
    const media = await probe(fixture('timecode.mov'))
    const bare = { ...media, tags: {}, streams: media.streams.map((stream) => ({ ...stream, tags: {} })) }
    expect(planSegments(bare, readEdl(EDL), 48_000)[0]?.startSample).toBe(0.4 * 48_000)
    const early = [{ startTimecode: '09:00:00:00', endTimecode: '09:00:01:00' }]
    expect(() => planSegments(media, early, 48_000)).toThrow(expect.objectContaining({ code: 'ERR_SEGMENT_OUTSIDE' }))
    const sound = await probe(fixture('speech.wav'))
    expect(() => planSegments(sound, early, 48_000)).toThrow(expect.objectContaining({ code: 'ERR_SEGMENT_TIMECODE' }))
  })

  it('is refused if the file does not count its timecodes, or can begin at either of two', async () => {
    const media = await probe(fixture('timecode.mov'))
    const refused = expect.objectContaining({ code: 'ERR_SEGMENT_TIMECODE' })
    for (const endTimecode of ['10:00:00:25', '10:00:01;10'])
      expect(() => planSegments(media, [{ startTimecode: '10:00:00:00', endTimecode }], 48_000)).toThrow(refused)
    const bare = { ...media, durationSec: 7200, tags: {}, streams: media.streams.map((one) => ({ ...one, tags: {} })) }
    const part = (endTimecode: string) => [{ startTimecode: '01:00:00:10', endTimecode }]
    expect(() => planSegments(bare, part('01:50:00:00'), 48_000)).toThrow(refused)
    expect(planSegments(bare, part('02:50:00:00'), 48_000)[0]?.startSample).toBe(0.4 * 48_000)
  })

  it('is counted in drop frame if the file is, and refused if the list alone is', async () => {
    const { streams, ...media } = await probe(fixture('timecode.mov'))
    const film = (timecode: string) => ({
      ...media,
      durationSec: 7200,
      tags: { timecode },
      streams: streams.map((one) => (one.kind === 'video' ? { ...one, frameRate: '30000/1001', tags: {} } : one)),
    })
    const part = [{ startTimecode: '01:01:00:02', endTimecode: '01:01:01:00' }]
    expect(planSegments(film('01:00:00;00'), part, 48_000)).toEqual([
      { startSample: 1800 * 1601.6, endSample: Math.round(1828 * 1601.6) },
    ])
    const dropping = [{ startTimecode: '01:01:00;02', endTimecode: '01:01:01;00' }]
    const refused = expect.objectContaining({ code: 'ERR_SEGMENT_TIMECODE' })
    expect(() => planSegments(film('01:00:00:00'), dropping, 48_000)).toThrow(refused)
  })

  it('counts drop frame as SMPTE 12M does', () => {
    const rate = 30_000 / 1001
    expect(timecodeFrames('00:01:00;02', rate)).toBe(1800)
    expect(timecodeFrames('00:00:59;29', rate)).toBe(1799)
    expect(timecodeFrames('00:10:00;00', rate)).toBe(17_982)
    expect(timecodeFrames('01:00:00;00', rate)).toBe(107_892)
    expect(timecodeFrames('01:00:00:00', 25)).toBe(90_000)
    expect(readEdl(`FCM: DROP FRAME\n${EDL.split('\n')[3]}`)[0]).toMatchObject({ startTimecode: '10:00:00;10' })
  })
})

describe('a marker file', () => {
  it.each([
    ['Audacity labels', '1.500000\t2.250000\tDoor\n\\\t100\t2000\n3\t4\n'],
    ['CSV with a heading', '\uFEFFstart,end,name\r\n1.5,2.25,"Door"\r\n0:03,0:04,\r\n'],
    ['CSV of semicolons', '1.5;2.25\n3;4'],
  ])('of %s is read', (_what, text) => {
    expect(readMarkers(text)).toEqual([
      { startSec: 1.5, endSec: 2.25 },
      { startSec: 3, endSec: 4 },
    ])
  })

  it.each(['', 'start,end', '1,2\nx,y', '2\t2\tinstant', '3,1'])('that marks no part is refused: %j', (text) => {
    expect(() => readMarkers(text)).toThrow(SyntaxError)
  })
})

describe('readSegments', () => {
  it('takes times and files together, against the working folder', async () => {
    await writeFile(folder.file('labels.txt'), '1\t2\tone\n')
    await writeFile(folder.file('cut.edl'), EDL)
    expect(await readSegments(['5-', 'markers:labels.txt', 'edl:cut.edl'], folder.path)).toEqual([
      { startSec: 5, endSec: null },
      { startSec: 1, endSec: 2 },
      ...readEdl(EDL),
    ])
  })

  it.each(['edl:missing.edl', 'markers:bad.txt', 'edl:bad.txt', 'markers:.'])('refuses %s', async (typed) => {
    await writeFile(folder.file('bad.txt'), 'prose, and more of it\nand more')
    await expect(readSegments([typed], folder.path)).rejects.toMatchObject({ code: 'ERR_SEGMENT_FILE', exitCode: 2 })
  })
})
