import { readFile, rename, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { planTimeline, regenerateTimeline } from '../../../plugins/timelines/index.js'
import { readTimeline } from '../../../plugins/timelines/read-timeline.js'
import { rational } from '../../../plugins/timelines/time/rational.js'
import { jobBench } from '../../helpers/job-bench.js'
import { timelineRequest } from './timeline-request.js'

const bench = jobBench()

/** A log with these columns and rows; every line ends as on Windows. */
const log = (
  columns: string,
  rows: readonly string[],
  heading = 'FIELD_DELIM\tTABS\r\nVIDEO_FORMAT\t1080\r\nFPS\t25',
) => `Heading\r\n${heading}\r\n\r\nColumn\r\n${columns}\r\n\r\nData\r\n${rows.join('\r\n')}\r\n`.replaceAll('|', '\t')

const read = (text: string) =>
  readTimeline(
    { path: 'x', textPath: 'x', text, extension: '.ale', encoding: 'utf8', needsFrameRate: false },
    rational(25),
  )

/** The name of each use's file, its range in seconds, and what is noted. */
function described(text: string): readonly string[] {
  const { uses, sources, notes } = read(text)
  const sec = ({ numerator, denominator }: { numerator: bigint; denominator: bigint }) =>
    denominator === 1n ? `${numerator}` : `${numerator}/${denominator}`
  return [
    ...uses.map(({ sourceId, range }) => {
      const source = sources.find(({ id }) => id === sourceId)
      return `${source?.paths.join(' or ')} ${sec(range.start)}-${sec(range.end)}`
    }),
    ...notes.map(({ kind, subject }) => `${kind} ${subject}`),
  ]
}

const relinked = (text: string, original: string) => {
  const { sources, relink } = read(text)
  const [made, old] = [`/new/${original.replace('.', '.regen.')}`, `/old/${original}`]
  return relink(new Map(sources.map(({ id }) => [id, { path: made, original: old }])))
}

describe('an Avid log', () => {
  it('is read with its rate, by the file, the sound roll, the tape or the name that its rows give', () => {
    const rows = [
      'take 1|SR01|A001|A001C001.mov|00:00:01:00|00:00:02:12|',
      'take 2||A001||10:00:00:00|10:00:01:00|',
      'take 3||||10:00:00:00|||00:00:00:10',
      'take 4|||||10:00:00:00|',
      '||||10:00:00:00|10:00:01:00|',
    ]
    expect(described(log('Name|Soundroll|Tape|Source File|Start|End|Shot|Duration', rows))).toEqual([
      'A001C001.mov or SR01 or A001 or take 1 1-62/25',
      'A001 or take 2 36000-36001',
      'take 3 36000-180002/5',
      'unread take 4',
      'missing-reference Line 14',
    ])
  })

  it('hears a sound roll on its own timecode', () => {
    const row = 'take 1|A001|01:00:00:00|01:00:02:00|SR 7|14:00:00:05'
    expect(described(log('Name|Tape|Start|End|Sound Roll|Sound TC', [row]))).toEqual(['SR 7 252001/5-252011/5'])
  })

  it('counts frames at 23.976 and drops frames at 29.97', () => {
    // A heading on one line, as the samples of OpenTimelineIO have it.
    const film = log(
      'Name|Start|End',
      ['a|04:00:46:16|04:01:37:08'],
      'FIELD_DELIM\tTABS\tVIDEO_FORMAT\t1080\tFPS\t23.98',
    )
    const frames = (4 * 3600 + 46) * 24 + 16
    expect(read(film).uses[0]?.range.start).toEqual(rational(frames * 1001, 24_000))
    const drop = log('Name|Start|End', ['a|00:10:00;00|00:10:00;01'], 'VIDEO_FORMAT\tNTSC')
    expect(read(drop).uses[0]?.range).toEqual({
      start: rational(17_982 * 1001, 30_000),
      end: rational(17_983 * 1001, 30_000),
    })
  })

  it('changes only the cells that name the file', () => {
    const columns = 'Name|Tape|Soundroll|Source File|Source File Path|Start|End'
    const text = log(columns, [
      'a|T1||A001.mov|D:\\rushes\\A001.mov|00:00:01:00|00:00:02:00',
      'b|T1||B.mov||00:00:01:00|00:00:02:00',
    ])
    expect(relinked(text, 'A001.mov')).toBe(
      text
        .replace('\tA001.mov', '\tA001.regen.mov')
        .replace('D:\\rushes\\A001.mov', '/new/A001.regen.mov')
        .replace('B.mov', 'A001.regen.mov'),
    )
    const sound = log('Name|Soundroll|Sound TC|Start|End', ['a|SR01|00:00:05:00|00:00:01:00|00:00:02:00'])
    expect(relinked(sound, 'sr01.wav')).toBe(sound.replace('SR01', 'sr01.regen.wav'))
    // Found by its tape: no cell names the file.
    const tape = log('Name|Tape|Start|End|', ['a|A001|00:00:01:00|00:00:02:00|'])
    expect(relinked(tape, 'A001.mov')).toBe(
      tape.replace('Start\tEnd\t', 'Start\tEnd\tSource File').replace('00:00:02:00\t', '00:00:02:00\tA001.regen.mov'),
    )
    expect(read(tape).relink(new Map())).toBe(tape)
  })

  it('becomes a log of the new files, with the ranges that were regenerated', async () => {
    await rename(await bench.take('timecode.mov'), bench.folder.file('A001C001.mov'))
    const rows = [
      'good|A001C001|10:00:00:10|10:00:01:00',
      'gone|B002|10:00:00:00|10:00:01:00',
      'late|A001C001|11:00:00:00|11:00:01:00',
    ]
    const text = log('Name|Tape|Start|End|Comment', rows)
    await writeFile(bench.folder.file('day.ale'), text)
    const plan = await planTimeline(timelineRequest(bench.folder.file('day.ale')), {})
    expect(plan.sources.map(({ used }) => used)).toEqual([[{ startSample: 10 * 1920, endSample: 25 * 1920 }]])
    expect(plan.notes).toMatchObject([
      { kind: 'offline', subject: 'B002' },
      { kind: 'outside', subject: 'late' },
    ])
    expect(plan.clips).toBe(1)
    const { event } = await regenerateTimeline(plan, bench.pipeline.context, { concurrency: 1 })
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(await readFile(bench.folder.file('day.regen.ale'), 'utf8')).toBe(
      text
        .replace('Comment', 'Comment\tSource File')
        .replace('10:00:01:00\r\ngone', '10:00:01:00\t\tA001C001.regen.mov\r\ngone'),
    )
  })

  it.each([
    ['without its sections', 'Heading\nFPS\t25\n', /no section called column/],
    ['without a rate', log('Name', [], 'VIDEO_FORMAT\t1080'), /does not state its frame rate/],
    ['with commas between its fields', log('Name', [], 'FIELD_DELIM\tCOMMAS\r\nFPS\t25'), /not separated by tabs/],
    ['without columns', log('', []), /names no columns/],
    ['with rows above Data', `${log('Name', []).replace('Data', 'a\r\nData')}`, /no rows under Data/],
  ])('is refused %s', (_, text, message) => expect(() => read(text)).toThrow(message))
})
