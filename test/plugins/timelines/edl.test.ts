import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { frameRate, planTimeline, regenerateTimeline } from '../../../plugins/timelines/index.js'
import { readTimeline } from '../../../plugins/timelines/read-timeline.js'
import { rational } from '../../../plugins/timelines/time/rational.js'
import { jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { timelineRequest } from './timeline-request.js'

const bench = jobBench()

/** An event from second to second of the source, at 25 frames. */
const event = (number: string, reel: string, channels: string, transition: string, from: number, to: number) =>
  `${number}  ${reel} ${channels} ${transition} 00:00:0${from}:00 00:00:0${to}:00 01:00:00:00 01:00:0${to - from}:00`

function read(...lines: readonly string[]) {
  const text = `TITLE: T\nFCM: NON-DROP FRAME\n\n${lines.join('\n')}\n`
  const file = { path: 'x.edl', textPath: 'x.edl', extension: '.edl', encoding: 'utf8', needsFrameRate: true } as const
  return readTimeline({ ...file, text }, rational(25))
}

/** Of each use the names that its file is looked for by, and its seconds. */
function played({ uses, sources }: ReturnType<typeof read>): readonly string[] {
  return uses.map(({ sourceId, range: { start, end } }) => {
    const sec = ({ numerator, denominator }: typeof start) => Number(numerator) / Number(denominator)
    return `${sources.find(({ id }) => id === sourceId)?.paths.join(' or ')} ${sec(start)}-${sec(end)}`
  })
}

describe('an edit decision list', () => {
  it('names the clip that goes out of a dissolve under the one that comes in', () => {
    const list = read(
      event('001', 'AX', 'AA/V', 'C', 1, 2),
      '* FROM CLIP NAME: a.mov',
      event('002', 'AX', 'AA/V', 'C', 2, 2),
      event('002', 'AX', 'AA/V', 'D 010', 5, 8),
      '* FROM CLIP NAME: a.mov',
      '* SOURCE FILE: /rushes/a.mov',
      '* TO CLIP NAME: b.mov',
      '* SOURCE FILE: /rushes/b.mov',
    )
    expect(played(list)).toEqual(['a.mov 1-2', '/rushes/a.mov or a.mov 2-2.4', '/rushes/b.mov or b.mov 5-8'])
    const [, outgoing, incoming] = list.sources.map(({ id }) => id) as [string, string, string]
    const made = list.relink(
      new Map([
        [outgoing, { path: '/new/a.regen.mov', original: '/rushes/a.mov' }],
        [incoming, { path: '/new/b.regen.mov', original: '/rushes/b.mov' }],
      ]),
    )
    expect(made.split('\n').slice(7)).toEqual([
      '* FROM CLIP NAME: a.regen.mov',
      '* SOURCE FILE: /new/a.regen.mov',
      '* TO CLIP NAME: b.regen.mov',
      '* SOURCE FILE: /new/b.regen.mov',
      '',
    ])
  })

  it('names the clip that fades under the black that it fades to', () => {
    const list = read(
      event('001', 'AX', 'AA/V', 'C', 1, 1),
      event('001', 'BL', 'AA/V', 'D 025', 0, 2),
      '* FROM CLIP NAME: a.mov',
      event('002', 'BL', 'AA/V', 'C', 0, 0),
      event('002', 'AX', 'AA/V', 'D 025', 5, 8),
      '* FROM CLIP NAME: b.mov',
    )
    expect(played(list)).toEqual(['a.mov 1-2', 'b.mov 5-8'])
    const made = list.relink(new Map(list.sources.map(({ id }) => [id, { path: `/new/${id}`, original: `/${id}` }])))
    expect(made).toBe(list.relink(new Map()))
    const renamed = list.relink(new Map(list.sources.map(({ id }) => [id, { path: `/x.${id}`, original: `/${id}` }])))
    expect(renamed.match(/CLIP NAME: .*/g)).toEqual(['CLIP NAME: x.a.mov', 'CLIP NAME: x.b.mov'])
  })

  it('takes clips of one name from two reels for two files, and renames each for itself', () => {
    const list = read(
      event('001', 'A001', 'AA', 'C', 1, 2),
      '* FROM CLIP NAME: Interview',
      event('002', 'A002', 'AA', 'C', 5, 8),
      '* FROM CLIP NAME: Interview',
    )
    expect(played(list)).toEqual(['Interview or A001 1-2', 'Interview or A002 5-8'])
    const second = list.sources[1]?.id as string
    const made = list.relink(new Map([[second, { path: '/new/A002.regen.mov', original: '/A002.mov' }]]))
    expect(made.match(/CLIP NAME: .*/g)).toEqual(['CLIP NAME: Interview', 'CLIP NAME: A002.regen.mov'])
  })

  it.each([
    ['further channels in a line of their own', [event('001', 'A1', 'NONE', 'C', 1, 2), 'AUD  3  4'], ['A1 1-2']],
    ['a reel with spaces', [event('001', 'CARD 1 DAY 2', 'AA', 'C', 1, 2)], ['CARD 1 DAY 2 1-2']],
    ['a key over its background', [event('001', 'A1', 'AA', 'K B', 1, 2)], ['A1 1-2']],
    [
      'a motion effect of the side that goes out',
      [
        event('001', 'A1', 'AA', 'C', 1, 1),
        event('001', 'B1', 'AA', 'D 025', 2, 4),
        'M2   A1       050.0                00:00:01:00',
      ],
      ['A1 1-2', 'B1 2-4'],
    ],
  ])('plays %s', (_, lines, expected) => {
    // Whatever has sound beside it: such an event is not picture alone.
    const list = read(event('009', 'Z', 'A', 'C', 0, 1), ...lines)
    expect(played(list).slice(1)).toEqual(expected)
  })

  it('names a line that looks like an event and is none', () => {
    const { notes } = read(event('001', 'A1', 'AA', 'C', 1, 2), '002 BL C 00:00:01:00 00:00:02:00')
    expect(notes.map(({ kind, subject }) => [kind, subject])).toEqual([['unread', 'Line 5']])
  })

  it('of an older system keeps every byte, and finds a file by a name with accents', async () => {
    await writeFile(bench.folder.file('grün.wav'), await readFile(await bench.take('speech.wav')))
    const cut = bench.folder.file('cut.edl')
    const list = (name: string) =>
      Buffer.from(
        `${event('001', 'AX', 'A', 'C', 1, 2)}\r\n* FROM CLIP NAME: ${name}\r\n* COMMENT: s\u00fc\u00df\r\n`,
        'latin1',
      )
    await writeFile(cut, list('GR\u00dcN.WAV'))
    bench.answerWith('-af', 'volume=-6dB')
    const plan = await planTimeline(timelineRequest(cut, { frameRate: frameRate('25') ?? null }), {})
    expect((await regenerateTimeline(plan, bench.pipeline.context, { concurrency: 1 })).event.status).toBe('done')
    expect(await readFile(plan.output)).toEqual(list('gr\u00fcn.regen.wav'))
  })

  it('takes a reel for the recording of that name, whatever else lies beside it', async () => {
    await mkdir(bench.folder.file('rushes'))
    await writeFile(bench.folder.file('rushes/A001.wav'), await readFile(await bench.take('speech.wav')))
    for (const name of ['A001.xmp', 'A001.srt', 'A001.jpg']) await writeFile(bench.folder.file(`rushes/${name}`), 'x')
    await writeFile(bench.folder.file('A001.edl'), event('001', 'A001', 'A', 'C', 1, 2))
    const request = { mediaRoots: [bench.folder.file('rushes')], frameRate: frameRate('25') ?? null }
    const plan = await planTimeline(timelineRequest(bench.folder.file('A001.edl'), request), {})
    expect(plan.sources.map(({ media }) => media.path)).toEqual([bench.folder.file('rushes/A001.wav')])
  })
})

describe('a timecode of an edit decision list', () => {
  it.each([
    ['01:00:00;00', 'NON-DROP', '01:01:03:07', '01:01:05:11'],
    ['10:00:00:00', 'DROP', '10:00:03:07', '10:00:05:11'],
    ['10:00:00:00', 'DROP', '10:00:03;07', '10:00:05;11'],
  ])('is the frame of that label in a file from %s, though the list is %s', async (timecode, mode, start, end) => {
    const { folder } = bench
    const picture = ['-f', 'lavfi', '-i', 'color=s=16x16:r=30000/1001:d=90', '-f', 'lavfi', '-i', 'sine=d=90']
    const film = folder.file('film.mov')
    await ffmpeg(...picture, '-c:v', 'mpeg4', '-c:a', 'pcm_s16le', '-timecode', timecode, film)
    const times = `${start} ${end} 01:00:00:00 01:00:02:04`
    await writeFile(folder.file('cut.edl'), `FCM: ${mode} FRAME\n1 AX A C ${times}\n* FROM CLIP NAME: film.mov\n`)
    const { sources, notes } = await planTimeline(timelineRequest(folder.file('cut.edl')), {})
    expect(notes).toEqual([expect.objectContaining({ kind: 'frame-rate', subject: 'film.mov' })])
    // Drop frame leaves out two numbers of a minute.
    const frames = (timecode.includes(';') ? 1798 : 0) + 97
    const sample = (count: number) => (count * 44_100 * 1001) / 30_000
    expect(sources[0]?.used).toEqual([
      { startSample: Math.floor(sample(frames)), endSample: Math.ceil(sample(frames + 64)) },
    ])
  })
})

describe('the frame rate of an edit decision list', () => {
  const film = (rate: string) =>
    ffmpeg(
      ...['-f', 'lavfi', '-i', `color=s=16x16:r=${rate}:d=3`, '-f', 'lavfi', '-i', 'sine=r=48000:d=3'],
      ...['-c:v', 'mjpeg', '-c:a', 'pcm_s16le', bench.folder.file(`${rate}.mov`)],
    )
  const cut = async (mode: string, out: string, ...names: readonly string[]) => {
    const lines = names.map(
      (name) => `001  AX  A  C  00:00:00:00 ${out} 01:00:00:00 01:00:01:00\n* FROM CLIP NAME: ${name}.mov`,
    )
    await writeFile(bench.folder.file('cut.edl'), `FCM: ${mode}\n${lines.join('\n')}\n`)
    return bench.folder.file('cut.edl')
  }

  it('is not that of a film whose frames its timecodes cannot count', async () => {
    await film('25')
    const plan = async (path: string, rate?: string) =>
      planTimeline(timelineRequest(path, { frameRate: frameRate(rate ?? '') ?? null }), {})
    const ndf = await cut('NON-DROP FRAME', '00:00:01:29', '25')
    await expect(plan(ndf)).rejects.toMatchObject({
      code: 'ERR_TIMELINE_RATE',
      message: expect.stringContaining('00:00:01:29 is not a timecode at 25'),
    })
    await expect(plan(ndf, '25')).rejects.toMatchObject({ code: 'ERR_TIMELINE_RATE' })
    expect((await plan(ndf, '30')).usedSec).toBeCloseTo(59 / 30, 4)
    const df = await cut('DROP FRAME', '00:00:01;12', '25')
    await expect(plan(df)).rejects.toMatchObject({ code: 'ERR_TIMELINE_RATE' })
    await expect(plan(df, '24')).rejects.toMatchObject({ code: 'ERR_TIMELINE_RATE' })
    expect((await plan(df, '30000/1001')).usedSec).toBeCloseTo((42 * 1001) / 30_000, 4)
  })

  it('is that of the first film that fits, and said where it could be another', async () => {
    await Promise.all(['25', '30', '50'].map(film))
    const facts = async (path: string) => {
      const { usedSec, notes } = await planTimeline(timelineRequest(path), {})
      return [usedSec, ...notes.map(({ message }) => message)]
    }
    expect(await facts(await cut('NON-DROP FRAME', '00:00:01:29', '25', '30'))).toEqual([2 * (59 / 30)])
    expect(await facts(await cut('NON-DROP FRAME', '00:00:01:05', '30', '25'))).toEqual([
      2 * (35 / 30),
      'is taken to count 30 frames a second, that of its media that comes first: others have 25 (--fps says it)',
    ])
    expect(await facts(await cut('NON-DROP FRAME', '00:00:01:05', '50'))).toEqual([
      1.1,
      'is taken to count 50 frames a second, that of its media: it could as well count 25 (--fps says it)',
    ])
    expect(await facts(await cut('NON-DROP FRAME', '00:00:01:30', '50'))).toEqual([1.6])
  })

  it('matters to nobody where none of its media is found', async () => {
    const path = await cut('NON-DROP FRAME', '00:00:01:29', 'gone')
    await expect(planTimeline(timelineRequest(path), {})).rejects.toMatchObject({ code: 'ERR_TIMELINE_OFFLINE' })
  })
})
