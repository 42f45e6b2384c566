import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { planTimeline } from '../../../plugins/timelines/index.js'
import { jobBench } from '../../helpers/job-bench.js'
import { timelineRequest } from './timeline-request.js'

const bench = jobBench()

/** A clip of ten frames for each address, one after the other. */
async function cutOf(...addresses: readonly string[]): Promise<string> {
  const clips = addresses.map(
    (url, at) => `<clipitem id="c${at}"><name>Clip ${at}</name><rate><timebase>25</timebase></rate>
      <start>${at * 10}</start><end>${at * 10 + 10}</end><in>${at * 10}</in><out>${at * 10 + 10}</out>
      <file id="f${at}"><pathurl>${url}</pathurl></file></clipitem>`,
  )
  const path = bench.folder.file('cut.xml')
  const track = `<media><audio><track>${clips.join('\n')}</track></audio></media>`
  await writeFile(path, `<xmeml version="5"><sequence><rate><timebase>25</timebase></rate>${track}</sequence></xmeml>`)
  return path
}

async function putAt(name: string): Promise<void> {
  await mkdir(dirname(bench.folder.file(name)), { recursive: true })
  await cp(await bench.take('speech.wav'), bench.folder.file(name))
}

async function found(...addresses: readonly string[]) {
  const mediaRoots = [bench.folder.path]
  const { sources, notes } = await planTimeline(timelineRequest(await cutOf(...addresses), { mediaRoots }), {})
  return {
    clips: sources.flatMap(({ media, uses }) =>
      uses.map(({ clip }) => `${clip}: ${media.path.slice(bench.folder.path.length + 1)}`),
    ),
    notes: notes.map(({ kind, subject }) => `${kind}: ${subject}`),
  }
}

it('two clips of one name on two cards are two files, also if only one is there', async () => {
  await putAt('CLIP0001.wav')
  const here = `file://${bench.folder.file('CLIP0001.wav')}`
  // One at its address; the other was on a card that is not there.
  expect(await found(here, 'file://localhost/Volumes/B/CLIP0001.wav')).toEqual({
    clips: ['Clip 0: CLIP0001.wav'],
    notes: ['offline: /Volumes/B/CLIP0001.wav'],
  })
  // Neither is at its address, and nothing tells them apart.
  await expect(found('file:///Volumes/A/CLIP0001.wav', 'file:///Volumes/B/CLIP0001.wav')).rejects.toMatchObject({
    code: 'ERR_TIMELINE_OFFLINE',
  })
  await putAt('rushes/B/CLIP0002.wav')
  expect(await found('file:///Volumes/A/CLIP0002.wav', 'file:///E%3a/b/CLIP0002.wav')).toEqual({
    clips: ['Clip 1: rushes/B/CLIP0002.wav'],
    notes: ['offline: /Volumes/A/CLIP0002.wav'],
  })
  // One address, written in two ways, is one file.
  expect((await found('file:///Volumes/A/CLIP0001.wav', 'file://localhost/volumes/A/CLIP0001.wav')).clips).toEqual([
    'Clip 0: CLIP0001.wav',
    'Clip 1: CLIP0001.wav',
  ])
})
