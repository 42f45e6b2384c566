import { describe, expect, it } from 'vitest'
import { addressOfPath, pathOfAddress } from '../../../plugins/timelines/media-path.js'
import { readTimeline } from '../../../plugins/timelines/read-timeline.js'
import { rational } from '../../../plugins/timelines/time/rational.js'

/** Of each use the name of its file and its seconds, and what is noted. */
function read(extension: string, text: string): readonly string[] {
  const file = { path: 'x', textPath: 'x', extension, encoding: 'utf8', needsFrameRate: false } as const
  const { uses, sources, notes } = readTimeline({ ...file, text }, rational(25))
  return [
    ...uses.map(({ sourceId, range: { start, end } }) => {
      const sec = ({ numerator, denominator }: typeof start) => Number(numerator) / Number(denominator)
      return `${sources.find(({ id }) => id === sourceId)?.name} ${sec(start)}-${sec(end)}`
    }),
    ...notes.map(({ kind, subject }) => `${kind} ${subject}`),
  ]
}

/** Clips on an audio track at 25 frames a second, as Final Cut Pro 7 and Premiere Pro write them. */
const fcp7 = (...clips: readonly string[]) =>
  read(
    '.xml',
    `<xmeml version="4"><sequence id="s"><rate><timebase>25</timebase></rate><media><audio><track>${clips.join('')}
    </track></audio></media></sequence></xmeml>`,
  )
const a = '<file id="f"><pathurl>file:///a.mov</pathurl><duration>5000</duration></file>'
const speed = (percent: number) =>
  `<filter><effect><effectid>timeremap</effectid><parameter><parameterid>speed</parameterid><value>${percent}</value>
  </parameter></effect></filter>`
const nested = (clip: string, start: number, more = '') =>
  `<clipitem><name>Scene</name><start>0</start><end>50</end><in>${start}</in><out>${start + 50}</out><sequence id="n">
  <rate><timebase>25</timebase></rate><duration>500</duration><media><audio><track>${clip}</track></audio></media>
  </sequence>${more}</clipitem>`

describe('FCP7 XML', () => {
  const clip = (more: string) =>
    `<clipitem><start>0</start><end>50</end><in>100</in><out>150</out>${a}${more}</clipitem>`
  const slow = `<clipitem><name>Slow</name><start>0</start><end>500</end><in>100</in><out>350</out>${a}${speed(50)}</clipitem>`

  it.each([
    [
      'a subclip counts from where it begins in its file',
      clip('<subclipinfo><startoffset>1000</startoffset><endoffset>99</endoffset></subclipinfo>'),
      ['a.mov 44-46'],
    ],
    // A frame is 10 160 640 000 ticks.
    [
      'sound cut within a frame reaches as far as its ticks say',
      clip('<pproTicksIn>1013523840000</pproTicksIn><pproTicksOut>1526128128000</pproTicksOut>'),
      ['a.mov 3.99-6.008'],
    ],
    ['ticks that mean something else are not taken', clip('<pproTicksIn>2032128000000</pproTicksIn>'), ['a.mov 4-6']],
    [
      'a slow clip in a nested sequence is heard to its end, whatever its in and out count',
      nested(slow, 400),
      ['a.mov 2-7', 'a.mov 4-9', 'speed Slow'],
    ],
    [
      'a nested sequence at another speed plays more of what is in it',
      nested(clip('').replace('<end>50', '<end>200').replace('<out>150', '<out>300'), 50, speed(200)),
      ['a.mov 6-12', 'speed Scene'],
    ],
  ])('%s', (_, clips, expected) => expect(fcp7(clips)).toEqual(expected))
})

describe('FCPXML', () => {
  it('plays the sound of an opened clip where it is an element of its own, and a picture alone nowhere', () => {
    const spine = `<clip name="Picture" offset="0s" start="3600s" duration="2s">
      <video ref="r1" offset="3600s" start="3600s" duration="9s"/>
    </clip><clip name="Both" offset="2s" start="3605s" duration="2s">
      <video ref="r1" offset="3600s" start="3600s" duration="9s">
        <audio lane="-1" ref="r1" offset="3600s" start="3600s" duration="9s" role="dialogue" srcCh="1, 2"/>
      </video></clip>`
    expect(
      read(
        '.fcpxml',
        `<fcpxml version="1.11"><resources><format id="f" frameDuration="1/25s"/>
        <asset id="r1" start="3600s" hasVideo="1" hasAudio="1"><media-rep src="file:///a.mov"/></asset></resources>
        <project><sequence format="f"><spine>${spine}</spine></sequence></project></fcpxml>`,
      ),
    ).toEqual(['a.mov 3605-3607'])
  })
})

describe('a retimed clip in FCPXML', () => {
  const clip = (start: string, ...points: readonly (readonly [string, string])[]) =>
    read(
      '.fcpxml',
      `<fcpxml version="1.11"><resources><format id="f" frameDuration="1/25s"/>
      <asset id="r1" start="3600s" duration="60s" hasAudio="1"><media-rep src="file:///a.mov"/></asset></resources>
      <project><sequence format="f"><spine><asset-clip ref="r1" name="Fast" start="${start}" duration="5s"><timeMap>
      ${points.map(([time, value]) => `<timept time="${time}" value="${value}"/>`).join('')}
      </timeMap></asset-clip></spine></sequence></project></fcpxml>`,
    )

  it.each([
    ['on its own clock', clip('3610s', ['3600s', '3600s'], ['3630s', '3660s']), 'a.mov 3620-3630'],
    ['backwards', clip('3610s', ['3600s', '3660s'], ['3660s', '3600s']), 'a.mov 3645-3650'],
    ['from zero with the clip', clip('3610s', ['0s', '3610s'], ['5s', '3620s']), 'a.mov 3610-3620'],
    ['from zero, played on beyond the last', clip('3602s', ['0s', '3602s'], ['2s', '3604s']), 'a.mov 3602-3607'],
  ])('covers what its points say %s', (_, found, expected) => expect(found).toEqual([expected, 'speed Fast']))
})

describe('an address', () => {
  it.each([
    ['file:///a/take%20%233.mov', '/a/take #3.mov'],
    ['file:///a/take #3?.mov', '/a/take #3?.mov'],
    ['file://localhost/a/50%.mov', '/a/50%.mov'],
    ['file:///a/50%%20off.mov', '/a/50% off.mov'],
    ['file://localhost/C%3a/a/b.mov', '/C:/a/b.mov'],
    ['file://server/share/a%20b.mov', 'server/share/a b.mov'],
    ['a/take%20%233.mov', 'a/take #3.mov'],
    ['/a/50% off.mov', '/a/50% off.mov'],
  ])('%s is %s', (address, path) => expect(pathOfAddress(address)).toBe(path))

  it.each(['/a/take #3?.mov', '/a/50%.mov', '/a/50%20.mov', '/a/ü & b.mov'])('of %s leads back to it', (path) => {
    for (const like of ['file:///x', 'file://localhost/x', '/x'])
      expect(pathOfAddress(addressOfPath(path, like))).toBe(path)
  })
})

describe('OTIO', () => {
  it('names a sequence of pictures for what it is', () => {
    const range = '{"OTIO_SCHEMA":"TimeRange.1","start_time":{"value":0,"rate":24},"duration":{"value":24,"rate":24}}'
    const reference = '{"OTIO_SCHEMA":"ImageSequenceReference.1","target_url_base":"file:///x/"}'
    const clip = `{"OTIO_SCHEMA":"Clip.1","name":"VFX","source_range":${range},"media_reference":${reference}}`
    expect(read('.otio', `{"OTIO_SCHEMA":"Track.1","kind":"Video","children":[${clip}]}`)).toEqual(['picture-only VFX'])
  })

  it('notes a clip of which neither it nor its file says a range', () => {
    const reference = '{"OTIO_SCHEMA":"ExternalReference.1","target_url":"a.wav","available_range":null}'
    const clip = `{"OTIO_SCHEMA":"Clip.1","name":"Room","source_range":null,"media_reference":${reference}}`
    expect(read('.otio', `{"OTIO_SCHEMA":"Track.1","kind":"Audio","children":[${clip}]}`)).toEqual(['unread Room'])
  })
})

describe('an MLT project', () => {
  const project = (more: string, entry = 'in="0" out="24"') =>
    read(
      '.mlt',
      `<mlt LC_NUMERIC="de_DE.UTF-8"><profile frame_rate_num="25" frame_rate_den="1"/><chain id="c" out="499">${more}</chain>
      <playlist id="p"><entry producer="c" ${entry}/></playlist><tractor id="t"><track producer="p"/></tractor></mlt>`,
    )
  const property = (name: string, value: string) => `<property name="${name}">${value}</property>`
  const avformat = property('resource', '/a.mov') + property('mlt_service', 'avformat')
  const remap = (...properties: readonly string[]) =>
    `${avformat}<link>${property('mlt_service', 'timeremap')}${properties.join('')}</link>`

  it.each([
    ['a decimal comma in its times', avformat, 'in="00:00:01,000" out="00:00:01,960"', ['a.mov 1-2']],
    [
      'a decimal comma in its speed',
      property('resource', '0,5:/a.mov') + property('mlt_service', 'timewarp') + property('warp_speed', '0,5'),
      undefined,
      ['a.mov 0-0.5', 'speed a.mov'],
    ],
    [
      'a decimal comma in its keyframes',
      remap(property('time_map', '00:00:00,000=0,5;00:00:00,960~=3,25')),
      undefined,
      ['a.mov 0.5-3.25', 'speed a.mov'],
    ],
    [
      'keyframes of speed, which go before those of time: to the end of the file',
      remap(property('time_map', '0=0;24=1'), property('speed_map', '0=1;24=4')),
      undefined,
      ['a.mov 0-1000000000', 'speed a.mov'],
    ],
    [
      'a change of speed that is switched off',
      remap(property('speed_map', '0=4'), property('disable', '1')),
      undefined,
      ['a.mov 0-1'],
    ],
  ])('plays %s', (_, chain, entry, expected) => expect(project(chain, entry)).toEqual(expected))
})
