import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readTimeline } from '../../../plugins/timelines/read-timeline.js'
import { rational } from '../../../plugins/timelines/time/rational.js'
import { TimelineSyntaxError } from '../../../plugins/timelines/timeline-error.js'
import fc from '../../helpers/properties.js'
import { kdenliveProject } from '../mlt/project.js'
import { aafFile, composition, fileMob, filler, masterClip, noSource, sequence, slot, sourceClip } from './aaf-file.js'
import { clip, external, stack, timeline, timeRange, track } from './otio-file.js'
import { premiereProject } from './premiere-project.js'

const isSoak = process.env.VOXMUX_SOAK === '1'
const nested = (plays: string, clipMore = '') =>
  ({ name: 'clip', plays, at: [0n, 10n], source: [5n, 15n], clipMore }) as const
const SAMPLES = ['pal-25.otio', 'film-24.otio', 'ndf-23976.fcpxml', 'ntsc-2997.xml', 'df-2997.edl', 'ndf-5994.edl']

const read = (name: string, text: string) =>
  readTimeline(
    { path: name, textPath: name, text, extension: extname(name), encoding: 'utf8', needsFrameRate: false },
    rational(25),
  )

const PREMIERE = premiereProject(
  [
    { uid: 'sequence-1', audio: [{ clips: [nested('media-a'), nested('sequence-2')], transitions: [[5n, 15n]] }] },
    { uid: 'sequence-2', audio: [{ clips: [nested('media-a', '<PlaybackSpeed>2</PlaybackSpeed>')] }] },
  ],
  [{ uid: 'media-a', path: '/rushes/a.wav', relative: './a.wav' }],
)
const AAF = aafFile([
  composition('cut', slot(sequence(18, [sourceClip('clip', 0, 9), filler(9)]), [48_000, 1])),
  masterClip('clip', slot(sourceClip('file', 0, 99), [48_000, 1])),
  fileMob('file', [slot(noSource(99), [48_000, 1])], ['file:///a.wav']),
]).toString('latin1')
const LOG =
  'Heading\nFPS\t25\nColumn\nName\tSource File\tStart\tEnd\nData\na\ta.wav\t01:00:00:00\t01:00:01:00\nb\t\t01:00:00:00\t01:00:01:00\n'

async function sampleText(name: string): Promise<string> {
  if (name.endsWith('.kdenlive')) return kdenliveProject('/films')
  if (name.endsWith('.prproj')) return PREMIERE
  if (name.endsWith('.ale')) return LOG
  if (name.endsWith('.aaf')) return AAF
  return readFile(fileURLToPath(new URL(`samples/${name}`, import.meta.url)), 'utf8')
}

/** What reading ends in: nothing where it is read, or the refusal's own reason; anything else is a defect. */
function refusal(name: string, text: string): string | undefined {
  try {
    const { uses, relink, sources } = read(name, text)
    for (const { range } of uses) expect(range.end.denominator).toBeGreaterThan(0n)
    // What can be read can be relinked, and read again.
    const made = relink(new Map(sources.map(({ id }) => [id, { path: '/new.wav', original: '/old.wav' }])))
    read(name, made)
    return undefined
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_TIMELINE_UNREADABLE', exitCode: 2 })
    const { cause } = error as Error
    if (!(cause instanceof TimelineSyntaxError)) throw cause
    return cause.message
  }
}

describe('a damaged timeline', () => {
  it.each([...SAMPLES, 'film.kdenlive', 'cut.prproj', 'day.ale', 'cut.aaf'])(
    'is read or refused in one sentence, never anything else: %s',
    async (name) => {
      const text = await sampleText(name)
      const place = fc.nat(text.length - 1)
      const damage = fc.oneof(
        place.map((at) => text.slice(0, at)),
        fc
          .tuple(place, fc.nat(255))
          .map(([at, code]) => text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1)),
        fc.tuple(place, fc.nat(400)).map(([at, length]) => text.slice(0, at) + text.slice(at + length)),
        fc
          .tuple(place, place, fc.nat(300))
          .map(([to, from, n]) => text.slice(0, to) + text.slice(from, from + n) + text.slice(to)),
        fc
          .tuple(fc.constantFrom('0', '-1', '1e99', '99999999999999999999', '1/0', ''), fc.nat(60))
          .map(([number, nth]) => {
            let index = 0
            return text.replace(/\d+/g, (digits) => (index++ === nth ? number : digits))
          }),
      )
      fc.assert(
        fc.property(damage, (damaged) => void refusal(name, damaged)),
        { numRuns: isSoak ? 4000 : 120 },
      )
    },
  )
})

describe('a hostile timeline', () => {
  const document = (type: string, body: string) => `<?xml version="1.0"?>\n${type}\n${body}`
  const bomb =
    '<!DOCTYPE xmeml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
  const outside = '<!DOCTYPE xmeml [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'

  it.each([
    ['entities that grow', document(bomb, '<xmeml><sequence><name>&c;</name></sequence></xmeml>'), /declares entities/],
    ['entities from outside', document(outside, '<xmeml>&secret;</xmeml>'), /declares entities/],
    ['no end of nesting', `<xmeml>${'<media>'.repeat(50_000)}`, /XML/],
  ])('is refused: %s', (_, text, message) => expect(refusal('cut.xml', text)).toMatch(message))

  it('is read without the text of an entity that nobody declared', () => {
    const off = '<media><audio><track><enabled>FALSE</enabled><clipitem/></track></audio></media>'
    const { notes } = read(
      'cut.xml',
      document(
        '<!DOCTYPE xmeml SYSTEM "http://127.0.0.1:9/x.dtd">',
        `<xmeml><sequence id="1"><name>&secret; &amp; &#65;</name>${off}</sequence></xmeml>`,
      ),
    )
    expect(notes[0]?.subject).toBe('A track of &secret; & A')
  })

  it('is refused where its sequences contain one another', () => {
    const inner = (id: string, other: string) =>
      `<sequence id="${id}"><media><audio><track>${`<clipitem><start>0</start><end>9</end><in>0</in><out>9</out><sequence id="${other}"/></clipitem>`.repeat(2)}</track></audio></media></sequence>`
    expect(refusal('cut.xml', `<xmeml>${inner('a', 'b')}${inner('b', 'a')}</xmeml>`)).toMatch(
      /contain one another|too many/,
    )
    const compound = (id: string, other: string) =>
      `<media id="${id}"><sequence><spine>${`<ref-clip ref="${other}" duration="9s"/>`.repeat(2)}</spine></sequence></media>`
    const project = '<project><sequence><spine><ref-clip ref="a" duration="9s"/></spine></sequence></project>'
    const fcpxml = `<fcpxml><resources>${compound('a', 'b')}${compound('b', 'a')}</resources>${project}</fcpxml>`
    expect(refusal('cut.fcpxml', fcpxml)).toMatch(/contain one another|too many/)
    const tractor = (id: string, other: string) =>
      `<tractor id="${id}" in="0" out="9">${`<track producer="${other}"/>`.repeat(2)}</tractor>`
    expect(refusal('cut.mlt', `<mlt>${tractor('a', 'b')}${tractor('b', 'a')}</mlt>`)).toMatch(
      /contain one another|too many/,
    )
  })

  const played = (list: string, times: number) => list.repeat(times)
  /** Elements that are counted like clips, but are walked in no time. */
  const long = played('<note/>', 20_000)
  const inTrack = (id: string, items: string) =>
    `<sequence id="${id}"><media><audio><track>${items}</track></audio></media></sequence>`
  const nestedClip = '<clipitem><start>0</start><end>9</end><in>0</in><out>9</out><sequence id="b"/></clipitem>'
  it.each([
    [
      'compound clips',
      'cut.fcpxml',
      `<fcpxml><resources><media id="m"><sequence><spine>${long}</spine></sequence></media></resources><project><sequence><spine>${played('<ref-clip ref="m" duration="9s"/>', 60)}</spine></sequence></project></fcpxml>`,
    ],
    ['nested sequences', 'cut.xml', `<xmeml>${inTrack('b', long)}${inTrack('a', played(nestedClip, 60))}</xmeml>`],
    [
      'playlists',
      'cut.mlt',
      `<mlt><playlist id="l">${long}</playlist><tractor id="t" in="0" out="99">${played('<track producer="l"/>', 60)}</tractor></mlt>`,
    ],
  ])('is refused where some lists of clips become millions: %s', (_, name, text) =>
    expect(refusal(name, text)).toMatch(/too many clips/),
  )

  it('is read once, however many properties a clip has', () => {
    const producer = `<producer id="p" in="0" out="9">${played('<property name="x">y</property>', 15_000)}<property name="resource">/a.wav</property></producer>`
    const text = `<mlt>${producer}<playlist id="l">${played('<entry producer="p" in="0" out="9"/>', 15_000)}</playlist><tractor id="t" in="0" out="9"><track producer="l"/></tractor></mlt>`
    expect(refusal('cut.mlt', text)).toBeUndefined()
  })

  it('is refused where OTIO nests deeper than any cut, and where a string has no end', () => {
    expect(refusal('cut.otio', '['.repeat(100_000))).toMatch(/nested too deeply/)
    expect(refusal('cut.otio', `{"OTIO_SCHEMA": "${'x'.repeat(5_000_000)}`)).toMatch(/not valid JSON \(line 1\)/)
    const nested = Array.from({ length: 80 }).reduce<object>(
      (item) => stack([track('Audio', [item])]),
      clip('x', external('a.wav'), timeRange(0, 9, 25)),
    )
    expect(refusal('cut.otio', timeline([track('Audio', [nested])]))).toBeUndefined()
  })

  const event = '001  AX  AA/V  C  01:00:10:00 01:00:12:00 01:00:20:05 01:00:22:05\n'
  const blanks = '\t'.repeat(300_000)
  it.each([
    ['a title with a gap', 'cut.edl', `TITLE: a${blanks}b\n${event}`],
    ['names behind a gap', 'cut.edl', `${event}* FROM CLIP NAME:${blanks}\u2028x\n* SOURCE FILE:${blanks}\u2028x\n`],
    ['a name with a gap', 'cut.edl', `${event}* SOURCE FILE: a${blanks}b\n`],
    ['any number of comments', 'cut.edl', event + '* x\n'.repeat(300_000)],
    [
      'a number behind a gap',
      'cut.fcpxml',
      `<fcpxml><resources><format id="r" frameDuration="${blanks}x"/></resources></fcpxml>`,
    ],
    ['a tag with a gap', 'cut.kdenlive', kdenliveProject('/films').replaceAll('<playlist ', `<playlist${blanks} `)],
  ])('is read once, however long its lines are: %s', (_, name, text) => {
    refusal(name, text)
  })

  it('keeps the names between their blanks', () => {
    const list = `TITLE:  A cut \r\n${event}* from clip name:  one two.wav \t\r\n`
    const { sources, relink } = read('cut.edl', list)
    expect(sources[0]?.name).toBe('one two.wav')
    expect(relink(new Map(sources.map(({ id }) => [id, { path: '/b/new.wav', original: '/a.wav' }])))).toBe(
      list.replace('one two.wav', 'new.wav'),
    )
  })
})
