import { truncate } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import type { OggDonor } from '../../../../src/media/write/frames/splice-ogg.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import type { SpliceableTrack } from '../../../../src/media/write/splice/old-packets.js'
import { ffmpeg, tone } from '../../../helpers/media-factory.js'
import { splicedFile } from '../../../helpers/spliced-file.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

/** Bytes of a packet that takes six segments. A page of 50 such packets would need 300. */
const LONG = 1400

async function spliceable(name: string, ...options: readonly string[]) {
  const path = folder.file(name)
  await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'libopus', ...options, path)
  const { writing } = await planOutput(await probe(path), { replaced: [0], inParts: [0] })
  if (writing.kind !== 'bytes') throw new Error('an Opus file has its own writer')
  return (await writing.splice(0)) as SpliceableTrack<OggDonor> | string
}

it('divides a page if its new packets take more segments than a page has', async () => {
  const track = await spliceable('sound.opus', '-b:a', '96k')
  if (typeof track === 'string') throw new Error(track)
  const { count } = track.packets
  const { pages } = track.donorOf({
    ...{ count, length: () => LONG, offsetOf: (packet) => packet * LONG, surplusSamples: 0 },
    timeOf: (packet) => ({ packet, behindSamples: 0 }),
    firstAt: (packet) => packet,
  })
  expect(Math.max(...pages.map(({ lacing }) => lacing.length))).toBeLessThanOrEqual(255)
  const ended = pages.map(({ lacing }) => lacing.filter((segment) => segment < 255).length)
  expect(ended.reduce((sum, packets) => sum + packets, 0)).toBe(count)
  // Packets of 20 ms: each page but the last states the samples of all packets so far.
  const played = ended.map((_, place) => 960 * ended.slice(0, place + 1).reduce((sum, packets) => sum + packets, 0))
  expect(pages.slice(0, -1).map(({ granule }) => Number(granule))).toEqual(played.slice(0, -1))
  expect(pages.map(({ flags }) => flags & 4)).toEqual(pages.map((_, place) => (place === pages.length - 1 ? 4 : 0)))
})

it('refuses packets that lie in two pages', async () => {
  expect(await spliceable('long.opus', '-b:a', '300k', '-page_duration', '20000000')).toBe('a packet lies in two pages')
})

it('leaves out a last page that is truncated, as players do, and names it', async () => {
  const path = folder.file('cut.opus')
  await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'libopus', path)
  await truncate(path, (await probe(path)).sizeBytes - 300)
  const { splice, verify, plan } = await splicedFile(path, [[1, 1.5]])
  expect(splice).toMatchObject({ kind: 'spliced' })
  expect(plan.losses.map(({ what }) => what)).toEqual([expect.stringContaining('truncated page')])
  await verify()
})
