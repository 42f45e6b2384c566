import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { frameRate, planTimeline, regenerateTimeline, type TimelineRequest } from '../../../plugins/timelines/index.js'
import { decodedPcm, jobBench } from '../../helpers/job-bench.js'
import { timelineRequest } from './timeline-request.js'

const bench = jobBench()
/** One frame of the fixture: 25 fps, beginning at 10:00:00:00, two seconds long. */
const FRAME = 1920

async function regenerate(input: string, more: Partial<TimelineRequest> = {}) {
  bench.answerWith('-af', 'volume=-6dB')
  const plan = await planTimeline(timelineRequest(input, more), {})
  const { event, files } = await regenerateTimeline(plan, bench.pipeline.context, { concurrency: 1 })
  expect(files.map((file) => file.event.error)).toEqual(files.map(() => null))
  expect(event.status).toBe('done')
  return plan
}

/** Expects a regenerated file to differ from its original in these frames and nowhere else. */
async function expectChanged(name: string, made: string, firstFrame: number, endFrame: number): Promise<void> {
  const bytesPerFrame = FRAME * 2 * 4
  const [before, after] = [await decodedPcm(bench.folder.file(name)), await decodedPcm(bench.folder.file(made))]
  const [start, end] = [firstFrame * bytesPerFrame, endFrame * bytesPerFrame]
  expect(after.length).toBe(before.length)
  expect(after.subarray(0, start).equals(before.subarray(0, start))).toBe(true)
  expect(after.subarray(end).equals(before.subarray(end))).toBe(true)
  expect(after.subarray(start, end).equals(before.subarray(start, end))).toBe(false)
}

const fcpxml = (url: string) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE fcpxml>
<fcpxml version="1.11">
  <resources>
    <format id="r1" frameDuration="1/25s"/>
    <asset id="r2" name="Film" start="36000s" duration="2s" hasVideo="1" hasAudio="1" format="r1">
      <media-rep kind="original-media" src="${url}"/>
    </asset>
  </resources>
  <project name="Cut"><sequence format="r1"><spine>
    <asset-clip ref="r2" offset="0s" name="Film" start="900010/25s" duration="15/25s" audioRole="dialogue"/>
  </spine></sequence></project>
</fcpxml>
`

describe('a cut in', () => {
  it('an FCPXML bundle: the new one holds what the old one held, and plays the new file', async () => {
    const film = await bench.take('timecode.mov')
    const bundle = bench.folder.file('cut.fcpxmld')
    await mkdir(bundle)
    await writeFile(`${bundle}/Info.fcpxml`, fcpxml(pathToFileURL(film).href))
    await writeFile(`${bundle}/tracking.data`, 'kept')
    await regenerate(bundle)
    await expectChanged('timecode.mov', 'timecode.regen.mov', 10, 25)
    const made = bench.folder.file('cut.regen.fcpxmld')
    expect(await readFile(`${made}/tracking.data`, 'utf8')).toBe('kept')
    expect(await readFile(`${made}/Info.fcpxml`, 'utf8')).toBe(
      fcpxml(pathToFileURL(bench.folder.file('timecode.regen.mov')).href),
    )
  })

  it('FCP7 XML: frames count from the start of the file, whatever its timecode', async () => {
    const film = await bench.take('timecode.mov')
    const xml = (
      url: string,
    ) => `<?xml version="1.0"?><!DOCTYPE xmeml><xmeml version="5"><sequence id="s"><name>Cut</name>
      <rate><timebase>25</timebase><ntsc>FALSE</ntsc></rate><media><audio><track><clipitem id="c"><name>Film</name>
      <start>0</start><end>15</end><in>10</in><out>25</out><file id="f"><pathurl>${url}</pathurl></file>
      </clipitem></track></audio></media></sequence></xmeml>`
    await writeFile(bench.folder.file('cut.xml'), xml(pathToFileURL(film).href))
    await regenerate(bench.folder.file('cut.xml'))
    await expectChanged('timecode.mov', 'timecode.regen.mov', 10, 25)
    const made = await readFile(bench.folder.file('cut.regen.xml'), 'utf8')
    expect(made).toBe(xml(pathToFileURL(bench.folder.file('timecode.regen.mov')).href))
  })

  it('an EDL: reels are found in a media root, timecodes count on their own, at the rate of the picture', async () => {
    await mkdir(bench.folder.file('rushes/day 1'), { recursive: true })
    const film = await bench.take('timecode.mov')
    await writeFile(bench.folder.file('rushes/day 1/TIMECODE.MOV'), await readFile(film))
    const cuts = bench.folder.file('cuts')
    await mkdir(cuts)
    await writeFile(`${cuts}/cut.edl`, '001  timecode AA C 10:00:00:10 10:00:01:00 01:00:00:00 01:00:00:15\n')
    const plan = await regenerate(`${cuts}/cut.edl`, { mediaRoots: [bench.folder.file('rushes')] })
    expect(plan.sources.map(({ used }) => used)).toEqual([[{ startSample: 10 * FRAME, endSample: 25 * FRAME }]])
    await expectChanged('timecode.mov', 'rushes/day 1/TIMECODE.regen.MOV', 10, 25)
    expect(await readFile(`${cuts}/cut.regen.edl`, 'utf8')).toBe(
      '001  timecode AA C 10:00:00:10 10:00:01:00 01:00:00:00 01:00:00:15\n* FROM CLIP NAME: TIMECODE.regen.MOV\n',
    )
  })

  it('an EDL over a recorder’s files: timecodes count on the time reference of a broadcast wave', async () => {
    await bench.take('field-recorder.wav')
    const cut = bench.folder.file('cut.edl')
    await writeFile(
      cut,
      '001  AX AA C 10:00:00:15 10:00:01:00 01:00:00:00 01:00:00:15\n* SOURCE FILE: field-recorder.wav\n',
    )
    const plan = await planTimeline(timelineRequest(cut, { frameRate: frameRate('30') ?? null }), {})
    expect(plan.sources[0]?.used).toEqual([{ startSample: 24_000, endSample: 48_000 }])
  })

  it('an EDL over sound alone asks for its frame rate', async () => {
    await bench.take('speech.wav')
    const cut = bench.folder.file('cut.edl')
    await writeFile(cut, '001  speech AA C 00:00:01:00 00:00:02:00 01:00:00:00 01:00:01:00\n')
    await expect(planTimeline(timelineRequest(cut), {})).rejects.toMatchObject({ code: 'ERR_TIMELINE_RATE' })
    const plan = await planTimeline(timelineRequest(cut, { frameRate: frameRate('23.976') ?? null }), {})
    expect(plan.sources[0]?.used).toEqual([{ startSample: 24 * 2002, endSample: 48 * 2002 }])
  })
})
