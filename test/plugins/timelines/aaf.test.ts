import { execFile, spawnSync } from 'node:child_process'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseCompoundFile } from '../../../plugins/timelines/aaf/compound-file.js'
import { writeCompoundFile } from '../../../plugins/timelines/aaf/write-compound-file.js'
import { planTimeline, regenerateTimeline } from '../../../plugins/timelines/index.js'
import { readTimeline } from '../../../plugins/timelines/read-timeline.js'
import { rational } from '../../../plugins/timelines/time/rational.js'
import { sampleRangeOf } from '../../../plugins/timelines/used-ranges.js'
import { jobBench } from '../../helpers/job-bench.js'
import {
  type AafNode,
  aafFile,
  composition,
  effect,
  fileMob,
  filler,
  GAIN,
  masterClip,
  noSource,
  PICTURE,
  type Rate,
  selector,
  sequence,
  slot,
  sourceClip,
  transition,
  WARP,
} from './aaf-file.js'
import { timelineRequest } from './timeline-request.js'

const bench = jobBench()
const run = promisify(execFile)

const [SAMPLES, FILM]: readonly [Rate, Rate] = [
  [48_000, 1],
  [24_000, 1001],
]
const readBytes = (bytes: Buffer) => {
  const file = { path: 'x', textPath: 'x', extension: '.aaf', encoding: 'latin1', needsFrameRate: false } as const
  return readTimeline({ ...file, text: bytes.toString('latin1') }, rational(25))
}

/** A recording with its master clip; its essence begins `origin` units before what clips count from. */
const recording = (name: string, rate: Rate, urls: readonly string[], origin = 0): readonly AafNode[] => [
  masterClip(`${name} clip`, slot(sourceClip(`${name} file`, 0, 10_000_000), rate)),
  fileMob(`${name} file`, [slot(noSource(10_000_000), rate, origin)], urls),
]

/** Samples of every use at 48 kHz, and what is noted. */
function described(bytes: Buffer): readonly string[] {
  const { uses, sources, notes } = readBytes(bytes)
  const grid = { origin: rational(0), sampleRate: 48_000, sampleCount: null }
  return [
    ...uses.map(({ sourceId, range }) => {
      const { startSample, endSample } = sampleRangeOf(range, grid) ?? { startSample: -1, endSample: -1 }
      return `${sources.find(({ id }) => id === sourceId)?.name} ${startSample}-${endSample}`
    }),
    ...notes.map(({ kind, subject }) => `${kind} ${subject}`),
  ]
}

const a = recording('a', SAMPLES, ['file:///rushes/a.wav'])
const cut = (rate: Rate, segment: AafNode) => composition('cut', slot(segment, rate))

describe('an AAF file', () => {
  it('is read to the sample through master clips, whatever the edit units of each', () => {
    const b = recording('b', FILM, ['/rushes/b.mxf'], 24)
    const hours = 24 * 3600 * 5
    const sound = sequence(0, [sourceClip('a clip', 48_001, 12_345), filler(100), sourceClip('a clip', 7, 1)])
    const film = sequence(0, [sourceClip('b clip', hours, 10)])
    const file = aafFile([composition('cut', slot(sound, SAMPLES), slot(film, FILM)), ...a, ...b])
    expect(described(file)).toEqual([
      ...['a.wav 48001-60346', 'a.wav 7-8'],
      `b.mxf ${(hours + 24) * 2002}-${(hours + 34) * 2002}`,
    ])
  })

  it('plays both sides of a transition, and effects that keep the speed', () => {
    const clips = [
      sourceClip('a clip', 1000, 5000),
      transition(2000),
      effect(4000, GAIN, [sourceClip('a clip', 50_000, 4000)]),
    ]
    expect(described(aafFile([cut(SAMPLES, sequence(7000, clips)), ...a]))).toEqual([
      'a.wav 1000-6000',
      'a.wav 50000-54000',
    ])
  })

  it('plays of a nested composition only what the other uses', () => {
    const inner = composition(
      'inner',
      slot(sequence(8000, [sourceClip('a clip', 0, 4000), sourceClip('a clip', 90_000, 4000)]), SAMPLES),
    )
    expect(described(aafFile([inner, cut(SAMPLES, sourceClip('inner', 3000, 2000)), ...a]))).toEqual([
      'a.wav 3000-4000',
      'a.wav 90000-91000',
    ])
  })

  it('notes clips of another speed, on tape, switched off, embedded or without a file', () => {
    const tape = fileMob('tape', [slot(noSource(9), SAMPLES)], [], 0x2e00)
    const lost = fileMob('lost', [slot(noSource(9), SAMPLES)], [])
    const inside = recording('inside', SAMPLES, ['file:///x.wav'])
    const clips = [
      effect(500, WARP, [sourceClip('a clip', 100, 1000)]),
      selector(9, filler(9), [sourceClip('a clip', 0, 9)]),
      ...['tape', 'lost', 'inside clip', 'nobody'].map((name) => sourceClip(name, 0, 9)),
    ]
    const file = aafFile([cut(SAMPLES, sequence(545, clips)), ...a, tape, lost, ...inside], {
      embedded: ['inside file'],
    })
    expect(described(file)).toEqual([
      ...['a.wav 100-1100', 'speed a clip', 'disabled a clip', 'missing-reference cut', 'unread inside clip'],
    ])
  })

  it('has the sound of its picture tracks if it has no sound tracks', () => {
    const picture = sequence(5, [sourceClip('a clip', 5, 5, PICTURE)], PICTURE)
    expect(described(aafFile([cut(SAMPLES, picture), ...a]))).toEqual(['a.wav 5-10'])
  })

  it.each([512, 4096])('differs in its locators alone when it is written, with sectors of %i bytes', (sectorBytes) => {
    const files = [...a, ...recording('b', SAMPLES, ['file:///b.wav'])]
    const file = aafFile([cut(SAMPLES, sequence(9, [sourceClip('a clip', 0, 9)])), ...files], { sectorBytes })
    const before = readBytes(file)
    expect(before.relink(new Map())).toBe(file.toString('latin1'))
    const [source] = before.sources
    // Far longer than the old one: it takes more sectors.
    const path = `/${'new & good/'.repeat(40)}a.regen.wav`
    const made = before.relink(new Map([[source?.id ?? '', { path, original: '/rushes/a.wav' }]]))
    const after = readBytes(Buffer.from(made, 'latin1'))
    expect(after.uses).toEqual(before.uses)
    expect(after.sources.map(({ paths }) => paths)).toEqual([[path]])
  })

  it('becomes an AAF file that plays the new files', async () => {
    await rename(await bench.take('speech.wav'), bench.folder.file('a.wav'))
    const files = [...a, ...recording('gone', SAMPLES, ['file:///gone.wav'])]
    const clips = [sourceClip('a clip', 24_001, 24_000), sourceClip('gone clip', 0, 9)]
    const input = bench.folder.file('cut.aaf')
    await writeFile(input, aafFile([cut(SAMPLES, sequence(24_009, clips)), ...files]))
    const plan = await planTimeline(timelineRequest(input), {})
    expect(plan.sources.map(({ used }) => used)).toEqual([[{ startSample: 24_001, endSample: 48_001 }]])
    expect(plan.notes).toMatchObject([{ kind: 'offline', subject: 'gone.wav' }])
    const { event } = await regenerateTimeline(plan, bench.pipeline.context, { concurrency: 1 })
    expect(event).toMatchObject({ status: 'done', output: bench.folder.file('cut.regen.aaf'), error: null })
    const made = readBytes(await readFile(bench.folder.file('cut.regen.aaf')))
    expect(made.sources.map(({ paths }) => paths[0])).toEqual([bench.folder.file('a.regen.wav'), '/gone.wav'])
  })
})

/** Another reader of the format: olefile of Debian's Python (`python3-olefile`). */
const PYTHON = '/usr/bin/python3'
const hasOlefile = spawnSync(PYTHON, ['-c', 'import olefile']).status === 0

it.skipIf(!hasOlefile).each([512, 4096])(
  'a new AAF file with sectors of %i bytes has the old streams but for one (python3-olefile reads both)',
  async (sectorBytes) => {
    const [before, after] = [bench.folder.file('cut.aaf'), bench.folder.file('cut.regen.aaf')]
    const mobs = [cut(SAMPLES, sequence(9, [sourceClip('a clip', 0, 9)])), ...a, ...recording('b', SAMPLES, ['/b.wav'])]
    // Enough streams for a table of several sectors.
    const others = Array.from({ length: 60 }, (_, index) => masterClip(`other ${index}`))
    await writeFile(before, aafFile([...mobs, ...others], { sectorBytes }))
    const { relink, sources } = readBytes(await readFile(before))
    const media = new Map([[sources[0]?.id ?? '', { path: `/${'new/'.repeat(99)}a.regen.wav`, original: '/a.wav' }]])
    await writeFile(after, relink(media), 'latin1')
    const script = `import json, olefile, sys
def read(path):
    file = olefile.OleFileIO(path, raise_defects=olefile.DEFECT_INCORRECT)
    assert not file.parsing_issues, file.parsing_issues
    names = file.listdir(streams=True, storages=True)
    return {'/'.join(one): (file.getclsid('/'.join(one)), file.openstream(one).read() if file.get_type(one) == olefile.STGTY_STREAM else b'') for one in names}
one, other = read(sys.argv[1]), read(sys.argv[2])
assert list(one) == list(other) and len(one) > 200
print(json.dumps([[name, other[name][1].decode('utf-16le', 'ignore')] for name in one if one[name] != other[name]]))`
    const changed: readonly (readonly [string, string])[] = JSON.parse(
      (await run(PYTHON, ['-c', script, before, after])).stdout,
    )
    expect(changed).toEqual([[expect.stringMatching(/\/properties$/), expect.stringMatching(/new\/a\.regen\.wav\0$/)]])
  },
)

it('a compound file whose table does not fit into its header is written and read whole', () => {
  const file = parseCompoundFile(aafFile([...a]))
  const long = file.entries.find(({ name }) => name === 'referenced properties')
  const content = Buffer.alloc(20_000_000, 'long ')
  if (long)
    expect(
      parseCompoundFile(writeCompoundFile(file, new Map([[long, content]]))).entries.map(({ content }) => content),
    ).toEqual(file.entries.map((entry) => (entry === long ? content : entry.content)))
  expect(long).toBeDefined()
})

describe('a hostile AAF file', () => {
  const file = aafFile([cut(SAMPLES, sequence(9, [sourceClip('a clip', 0, 9)])), ...a])
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(file)
    change(bytes)
    return () => readBytes(bytes)
  }
  const table = 512 * (file.readUInt32LE(76) + 1)
  const directory = 512 * (file.readUInt32LE(48) + 1)

  it.each([
    ['of something else', (bytes: Buffer) => bytes.fill(0, 0, 8), /has no signature/],
    ['whose chains lead in a circle', (bytes: Buffer) => bytes.writeUInt32LE(0, table), /leads in a circle/],
    ['whose chains leave it', (bytes: Buffer) => bytes.writeUInt32LE(0x00ffffff, table), /leaves its table/],
    [
      'whose table leads in a circle',
      (bytes: Buffer) => bytes.writeUInt32LE(0, 68),
      /leads in a circle|leaves its table|truncated/,
    ],
    [
      'whose directory leads in a circle',
      (bytes: Buffer) => bytes.writeUInt32LE(1, directory + 128 + 72),
      /directory leads in a circle/,
    ],
    [
      'with a stream of 4 GB',
      (bytes: Buffer) => bytes.writeUInt32LE(0xfffffff0, directory + 120),
      /longer than its sectors/,
    ],
    ['without a root', (bytes: Buffer) => bytes.writeUInt8(1, directory + 66), /has no root/],
    ['with odd sectors', (bytes: Buffer) => bytes.writeUInt16LE(30, 30), /sizes that are not read/],
  ])('is refused: one %s', (_, change, message) => expect(changed(change)).toThrow(message))

  it('is refused if its compositions contain one another, or if a vector counts what is not there', () => {
    const circle = ['one', 'two'].map((name, index) =>
      composition(name, slot(sourceClip(index === 0 ? 'two' : 'one', 0, 9), SAMPLES)),
    )
    expect(() => readBytes(aafFile(circle))).toThrow(/contain one another|too many/)
    const wide = Array.from({ length: 24 }, (_, index) => {
      const next = sourceClip(`w${index + 1}`, 0, 9)
      return composition(`w${index}`, slot(effect(9, GAIN, [next, next]), SAMPLES))
    })
    expect(() => readBytes(aafFile([...wide, ...a]))).toThrow(/too many|contain one another/)
    // An index that counts two objects of which one is there.
    const counted = Buffer.from(file)
    const index = counted.indexOf(Buffer.from('0100000001000000ffffffff00000000', 'hex'))
    counted.writeUInt32LE(7, index + 12)
    expect(() => readBytes(counted)).toThrow(/names an object that does not exist/)
  })
})
