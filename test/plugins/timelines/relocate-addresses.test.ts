import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planTimeline, regenerateTimeline } from '../../../plugins/timelines/index.js'
import { relocateAddresses } from '../../../plugins/timelines/relocate-addresses.js'
import { jobBench } from '../../helpers/job-bench.js'
import { clip, external, timeline, timeRange, track } from './otio-file.js'
import { timelineRequest } from './timeline-request.js'

const MOVE = { from: '/cuts/reel 1', to: '/finished', isBundle: false }

describe('relative addresses of a timeline that goes elsewhere', () => {
  it.each([
    ['a name', 'take.wav', '../cuts/reel 1/take.wav'],
    ['a path up', '../rushes/take.wav', '../cuts/rushes/take.wav'],
    ['an encoded one', 'take%201.wav', '../cuts/reel%201/take%201.wav'],
    ['an absolute one', '/rushes/take.wav', '/rushes/take.wav'],
    ['a URL', 'file:///rushes/take.wav', 'file:///rushes/take.wav'],
    ['a drive', 'D:\\rushes\\take.wav', 'D:\\rushes\\take.wav'],
    ['none', '', ''],
  ])('%s', (_, address, moved) => {
    const otio = (url: string) => JSON.stringify({ tracks: [{ media: { target_url: url, name: 'take.wav' } }] })
    expect(relocateAddresses(otio(address), '.otio', MOVE)).toBe(otio(moved))
    const fcpxml = (url: string) => `<fcpxml><asset id="r1"><media-rep kind="original" src="${url}"/></asset></fcpxml>`
    expect(relocateAddresses(fcpxml(address), '.fcpxml', MOVE)).toBe(fcpxml(moved))
    const fcp7 = (url: string) => `<xmeml><file id="a"><pathurl>${url}</pathurl></file></xmeml>`
    expect(relocateAddresses(fcp7(address), '.xml', MOVE)).toBe(fcp7(moved))
  })

  it('stay where the timeline stays, and within a bundle', () => {
    const text = '<fcpxml><asset src="media/take.wav"/></fcpxml>'
    expect(relocateAddresses(text, '.fcpxml', { ...MOVE, to: MOVE.from })).toBe(text)
    expect(relocateAddresses(text, '.fcpxmld', { ...MOVE, isBundle: true })).toBe(text)
    expect(relocateAddresses(text.replace('media', '..'), '.fcpxmld', { ...MOVE, isBundle: true })).toContain(
      'src="../cuts/take.wav"',
    )
  })

  it.each([
    ['<mlt title="a"><chain/></mlt>', '<mlt root="/cuts/reel 1" title="a"><chain/></mlt>'],
    ['<mlt root=""><chain/></mlt>', '<mlt root="/cuts/reel 1"><chain/></mlt>'],
    ['<mlt root="media"><chain/></mlt>', '<mlt root="/cuts/reel 1/media"><chain/></mlt>'],
    ['<mlt root="/rushes"><chain/></mlt>', '<mlt root="/rushes"><chain/></mlt>'],
  ])('of an MLT project count from its root: %s', (text, moved) => {
    expect(relocateAddresses(text, '.mlt', MOVE)).toBe(moved)
  })
})

describe('a timeline that goes elsewhere', () => {
  const bench = jobBench()

  it('plays what it left as it is, and its originals when an editor switches back', async () => {
    await bench.take('speech.wav')
    await mkdir(bench.folder.file('music'))
    await rename(await bench.take('speech.flac'), bench.folder.file('music/score.flac'))
    const cut = bench.folder.file('cut.otio')
    const clips = ['speech.wav', 'music/score.flac'].map((url) => clip(url, external(url), timeRange(25, 25, 25)))
    await writeFile(cut, timeline([track('Audio', clips)]))
    const request = timelineRequest(cut, { output: bench.folder.file('finished/'), exclude: ['*score*'] })
    const plan = await planTimeline(request, {})
    const { event } = await regenerateTimeline(plan, bench.pipeline.context, { concurrency: 1 })
    expect(event).toMatchObject({ status: 'done', output: bench.folder.file('finished/cut.regen.otio') })
    const made = JSON.parse(await readFile(plan.output, 'utf8'))
    const [voice, score] = made.tracks.children[0].children
    const meant = (reference: { target_url: string }) => join(dirname(plan.output), reference.target_url)
    expect(score.active_media_reference_key).toBe('DEFAULT_MEDIA')
    expect(meant(score.media_references.DEFAULT_MEDIA)).toBe(bench.folder.file('music/score.flac'))
    expect(voice.active_media_reference_key).toBe('voxmux')
    expect(meant(voice.media_references.DEFAULT_MEDIA)).toBe(bench.folder.file('speech.wav'))
    // Planned again from where it is now, it finds all its media.
    const again = await planTimeline(timelineRequest(plan.output), {})
    expect(again.sources.map(({ media, job }) => [media.path, job.output])).toEqual([
      [bench.folder.file('speech.wav'), bench.folder.file('finished/speech.regen.wav')],
      [bench.folder.file('music/score.flac'), bench.folder.file('music/score.regen.flac')],
    ])
    expect(again.notes).toMatchObject([{ kind: 'kept', subject: 'speech.regen.wav' }])
  })
})
