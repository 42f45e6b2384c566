import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { MediaInfo } from '../../../../src/media/media-info.js'
import { matroskaPlaces } from '../../../../src/media/verify/places/matroska-places.js'
import { misledIndices } from '../../../../src/media/verify/places/stated-place.js'
import { offsetMap } from '../../../../src/media/write/byte-plan.js'
import { censusFaults } from '../../../../src/media/write/census.js'
import { copyPlan } from '../../../../src/media/write/copy-plan.js'
import { matroska } from '../../../../src/media/write/matroska/matroska.js'
import fc from '../../../helpers/properties.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { blocksOf, checkedSums, ebmlTree, find, type Node, numberIn } from './ebml-tree.js'
import { matroskaFile } from './made-matroska.js'
import { files, type MadeMatroska } from './made-shape.js'
import { type MadeSide, sideFile, sides } from './made-side.js'

const folder = folderOfTests()

/** New packets in the gaps need several clusters of their own each. */
const LONG_GAPS: MadeMatroska = {
  tracks: [true],
  blocks: Array.from({ length: 2 }, () => ({ track: 0, ticks: 80_000, size: 9, form: 'simple' })),
  ...{ split: 1, openSegment: false, openClusters: false, widths: [4], cues: 'last', cueDetails: ['place', 'number'] },
  ...{ sums: true, states: true, seeks: 1, seekWidth: 4, tags: true, headerStripped: false, tickNs: 1_000_000 },
  unknown: [],
}

const SEGMENT = '18538067'
const encoding = { codec: 'flac', encoder: 'flac', lossless: true, bitRate: null, options: [] }

async function written(made: MadeMatroska, madeSide: MadeSide) {
  const [path, side, target] = [folder.file('made.mkv'), folder.file('side.mkv'), folder.file('out.mkv')]
  const before = matroskaFile(made)
  await writeFile(path, before)
  await writeFile(side, sideFile(madeSide))
  const streams = made.tracks.flatMap((isSound, index) =>
    isSound ? [{ kind: 'audio', index, audioIndex: index, sampleRate: 48_000, channels: 2, startSec: 0 }] : [],
  )
  const media = { path, sizeBytes: before.length, startSec: 0, formatName: 'matroska,webm', streams }
  const wanted = {
    media: media as unknown as MediaInfo,
    tracks: [{ input: streams[0] as never, encoding, channels: 2 }],
  }
  const parsed = await matroska.parse(wanted.media)
  if (parsed === null || typeof parsed === 'string') throw new Error('not parsed')
  const survey = matroska.survey(parsed, wanted)
  if (survey.kind === 'declines') throw new Error(survey.reason)
  const donor = await matroska.readDonor(side, wanted.tracks[0] as never, undefined, parsed)
  const plan = matroska.layOut(parsed, wanted, [donor])
  await copyPlan(plan, target, { input: path, donors: [side] })
  const after = await readFile(target)
  const misled = misledIndices(await placesOf(path), await placesOf(target))
  await rm(target)
  return { before, after, side: await readFile(side), census: survey.census, map: offsetMap(plan), misled }
}

async function placesOf(path: string) {
  await using file = await open(path, 'r')
  return await matroskaPlaces(file, new Set([0]))
}

const bytesOf = (file: Buffer, { start, end }: Pick<Node, 'start' | 'end'>) => file.toString('hex', start, end)

describe('the Matroska writer, of files that no one has seen', () => {
  it('replaces the blocks of one track, keeps every other byte and maps every place', async () => {
    await fc.assert(
      fc.asyncProperty(files, sides, async (made, madeSide) => {
        const { before, after, side, census, map, misled } = await written(made, madeSide)
        expect(misled).toEqual([])
        expect(censusFaults(census, before.length)).toEqual([])
        for (const { path, fate, start, length } of census) {
          if (fate !== 'kept') continue
          const at = map.outputOffset(start) ?? -1
          expect(map.keeps(start, length), path).toBe(true)
          expect(after.subarray(at, at + length).equals(before.subarray(start, start + length)), path).toBe(true)
        }
        const [was, is] = [ebmlTree(before), ebmlTree(after)]
        const [old, now] = [blocksOf(before, was), blocksOf(after, is)]
        const others = (file: Buffer, blocks: typeof old) =>
          blocks.filter(({ track }) => track !== 1).map(({ node, time }) => `${time} ${bytesOf(file, node)}`)
        expect(others(after, now)).toEqual(others(before, old))

        const own = now.filter(({ track }) => track === 1)
        const fresh = blocksOf(side, ebmlTree(side))
        expect(own.map(({ payload }) => payload.toString('hex'))).toEqual(
          fresh.map(({ payload }) => payload.toString('hex')),
        )
        const firstTick = old.find(({ track }) => track === 1)?.time ?? 0
        const ticks = fresh.map((_, place) => firstTick + Math.round((place * madeSide.packetMs * 1e6) / made.tickNs))
        expect(own.map(({ time }) => time)).toEqual(ticks)

        const sums = checkedSums(after, is)
        expect(sums).toBeGreaterThanOrEqual(checkedSums(before, was))
        checkSeeks(after, is)
        checkCues(made, before, after)
        checkClusters(made, after, is)
        checkTags(after, is, madeSide)
      }),
      {
        numRuns: process.env.VOXMUX_SOAK ? 500 : 40,
        examples: [[LONG_GAPS, { sizes: Array(60).fill(9), packetMs: 2900 }]],
      },
    )
  })
})

/** Every entry of a seek head leads to an element of its id. */
function checkSeeks(file: Buffer, tree: readonly Node[]): void {
  const segment = find(tree, SEGMENT)[0] as Node
  for (const seek of find(segment.children, '114d9b74', '4dbb')) {
    const id = find(seek.children, '53ab')[0] as Node
    const at = segment.dataStart + numberIn(file, find(seek.children, '53ac')[0])
    expect(segment.children.find(({ start }) => start === at)?.id).toBe(file.toString('hex', id.dataStart, id.end))
  }
}

interface Cue {
  readonly track: number
  readonly time: number
  readonly cluster: number
  readonly relative: number | null
  readonly number: number | null
}

function cuesOf(file: Buffer, tree: readonly Node[]): readonly Cue[] {
  return find(tree, SEGMENT, '1c53bb6b', 'bb').map(({ children }) => {
    const position = (find(children, 'b7')[0] as Node).children
    const optional = (id: string) => {
      const node = find(position, id)[0]
      return node ? numberIn(file, node) : null
    }
    return {
      track: numberIn(file, find(position, 'f7')[0]),
      time: numberIn(file, find(children, 'b3')[0]),
      cluster: numberIn(file, find(position, 'f1')[0]),
      relative: optional('f0'),
      number: optional('5378'),
    }
  })
}

/** Every cue leads to a block of its track and time: the same one for tracks that stay. */
function checkCues(made: MadeMatroska, before: Buffer, after: Buffer): void {
  const [was, is] = [ebmlTree(before), ebmlTree(after)]
  const [old, now] = [cuesOf(before, was), cuesOf(after, is)]
  expect(now.length).toBe(old.length)
  const segment = find(is, SEGMENT)[0] as Node
  const blocks = blocksOf(after, is)
  for (const [row, cue] of now.entries()) {
    const cluster = segment.children.find(({ start }) => start === segment.dataStart + cue.cluster)
    expect(cluster?.id).toBe('1f43b675')
    const found = blocks.filter((block) => {
      return block.cluster.start === cluster?.start && block.track === cue.track && block.time === cue.time
    })
    expect(found.length, `cue of track ${cue.track} at ${cue.time}`).toBeGreaterThan(0)
    expect(cue.track).toBe(old[row]?.track)
    if (cue.track !== 1) expect(cue.time).toBe(old[row]?.time)
    const { cueDetails } = made
    if (cueDetails.includes('place'))
      expect(found.map(({ node }) => node.start - (cluster?.dataStart ?? 0))).toContain(cue.relative)
    if (cueDetails.includes('number')) expect(found.map((block) => block.number)).toContain(cue.number)
  }
}

/** What a cluster states of its place and of the cluster before it is true. */
function checkClusters({ states }: MadeMatroska, file: Buffer, tree: readonly Node[]): void {
  const segment = find(tree, SEGMENT)[0] as Node
  const clusters = find(segment.children, '1f43b675')
  for (const [place, { start, children }] of clusters.entries()) {
    const [position] = find(children, 'a7')
    if (position) expect(numberIn(file, position)).toBe(start - segment.dataStart)
    const [size] = find(children, 'ab')
    const before = clusters[place - 1]
    if (size && before) expect(numberIn(file, size)).toBe(before.end - before.start)
    if (!states) expect([position, size]).toEqual([undefined, undefined])
  }
}

/** The statistics of the track are those of its new packets; those of the others are as they were. */
function checkTags(file: Buffer, tree: readonly Node[], { sizes, packetMs }: MadeSide): void {
  for (const tag of find(tree, SEGMENT, '1254c367', '7373')) {
    const uid = numberIn(file, find(tag.children, '63c0', '63c5')[0])
    const simple = find(tag.children, '67c8').map(({ children }) => {
      const textOf = (id: string) =>
        find(children, id).map(({ dataStart, end }) => file.toString('utf8', dataStart, end))
      return [textOf('45a3')[0], textOf('4487')[0]] as const
    })
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    const lengthSec = (sizes.length * packetMs) / 1000
    for (const [name, value] of simple) {
      expect(name).not.toBe('REPLAYGAIN_GAIN')
      if (name === 'NUMBER_OF_FRAMES') expect(value).toBe(uid === 1000 ? String(sizes.length) : '2')
      if (name === 'BPS') expect(value).toBe(uid === 1000 ? String(Math.round((8 * bytes) / lengthSec)) : '1')
      if (name === 'ARTIST') expect(value).toBe('One')
    }
  }
}
