import { open, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { moviePlaces } from '../../../../src/media/verify/places/movie-places.js'
import { misledIndices } from '../../../../src/media/verify/places/stated-place.js'
import { offsetMap } from '../../../../src/media/write/byte-plan.js'
import { censusFaults } from '../../../../src/media/write/census.js'
import { censusOfIso } from '../../../../src/media/write/iso-bmff/census-of-iso.js'
import { layOutFile } from '../../../../src/media/write/iso-bmff/lay-out/lay-out.js'
import { readDonorTrack } from '../../../../src/media/write/iso-bmff/read/donor-track.js'
import { readIsoFile } from '../../../../src/media/write/iso-bmff/read/iso-file.js'
import { readStructure } from '../../../../src/media/write/iso-bmff/read/read-structure.js'
import { unfitIso } from '../../../../src/media/write/iso-bmff/unfit-iso.js'
import fc from '../../../helpers/properties.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { boxTree, trackSamples } from './box-tree.js'
import { type MadeMovie, movieFile, movies } from './made-movie.js'

const folder = folderOfTests()

/** A side file of one track, as ffmpeg leaves it: packets in a row behind one another. */
const donors = movies.map((movie): MadeMovie => {
  const [track] = movie.tracks
  return {
    ...movie,
    tracks: track ? [{ ...track, sizes: 'stsz' }] : [],
    gaps: [],
    split: 99,
    unknown: [],
    withItems: false,
  }
})

async function written(movie: MadeMovie, donor: MadeMovie, voice: number) {
  const [path, side] = [folder.file('made.mp4'), folder.file('side.mp4')]
  const { bytes, item } = movieFile(movie)
  await writeFile(path, bytes)
  await writeFile(side, movieFile(donor).bytes)
  const file = await open(path, 'r')
  const iso = readIsoFile(await readStructure(file, bytes.length), 0)
  await file.close()
  const plan = layOutFile(iso, [voice], [await readDonorTrack(side)])
  const packets = await readFile(side)
  const after = Buffer.concat(
    Array.from(plan.pieces, (piece) => {
      if (piece.kind === 'bytes') return piece.bytes
      if (piece.kind === 'checksum') throw new Error('these files have no checksums')
      return (piece.kind === 'input' ? bytes : packets).subarray(piece.start, piece.start + piece.length)
    }),
  )
  await writeFile(folder.file('out.mp4'), after)
  const ids = new Set([iso.movie.tracks[voice]?.id ?? 0])
  const misled = misledIndices(await placesOf(path, ids), await placesOf(folder.file('out.mp4'), ids))
  return { misled, before: bytes, after, side: packets, item, iso, map: offsetMap(plan) }
}

async function placesOf(path: string, replaced: ReadonlySet<number>) {
  await using file = await open(path, 'r')
  return await moviePlaces(file, replaced)
}

describe('the ISO base media writer, of files that no one has seen', () => {
  it('replaces the packets of one track, keeps every other byte and maps every offset', async () => {
    await fc.assert(
      fc.asyncProperty(movies, donors, fc.nat({ max: 2 }), async (movie, donor, pick) => {
        const voice = pick % movie.tracks.length
        const { before, after, side, item, iso, misled, map } = await written(movie, donor, voice)
        expect(misled).toEqual([])
        expect(unfitIso(iso, [voice])).toBeUndefined()
        const census = [...censusOfIso(iso, [voice])]
        expect(censusFaults(census, before.length)).toEqual([])

        for (const place of movie.tracks.keys()) {
          const samples = trackSamples(after, place)
          const wanted = place === voice ? trackSamples(side, 0) : trackSamples(before, place)
          expect(samples.map((bytes) => bytes.toString('hex'))).toEqual(wanted.map((bytes) => bytes.toString('hex')))
        }
        const [made, stated] = [lengthOf(side, 0), lengthOf(after, voice)]
        expect(stated.ticks / stated.timeScale).toBeCloseTo(made.ticks / made.timeScale, 3)
        const [was, is] = [boxTree(before), boxTree(after)]
        const edits = movie.tracks[voice]?.edits ? [] : ['edts', 'elst']
        const types = (tree: typeof was) => tree.map(({ path }) => path.split('/').at(-1)?.replace(/#.*/, ''))
        const same = (name: string | undefined) => (name === 'stz2' ? 'stsz' : name)
        expect(
          types(is)
            .filter((name) => !edits.includes(name ?? ''))
            .map(same),
        ).toEqual(
          types(was)
            .filter((name) => !edits.includes(name ?? ''))
            .map(same),
        )
        // Every byte that the plan does not call changed is there, in its mapped place.
        for (const { path, fate, start, length } of census) {
          const end = start + length
          const ranges =
            path === 'mdat'
              ? besideVoice(before, voice, start + (movie.longHeaders ? 16 : 8), end)
              : [[start, end] as const]
          for (const [from, to] of fate === 'kept' || path === 'mdat' ? ranges : []) {
            const at = map.outputOffset(from) ?? -1
            expect(map.keeps(from, to - from), path).toBe(true)
            expect(after.subarray(at, at + to - from).equals(before.subarray(from, to)), path).toBe(true)
          }
        }
        if (item) expect(itemOf(after)).toEqual(item)
        // Bytes of media data that belong to no packet stay.
        const voiceBytes = (file: Buffer) => trackSamples(file, voice).reduce((sum, { length }) => sum + length, 0)
        expect(dataBytes(after) - voiceBytes(after)).toBe(dataBytes(before) - voiceBytes(before))
      }),
      { numRuns: process.env.VOXMUX_SOAK ? 500 : 60 },
    )
  })
})

/** Length of a track by `mdhd`. */
function lengthOf(file: Buffer, track: number): { readonly timeScale: number; readonly ticks: number } {
  const path = `moov/trak${track === 0 ? '' : `#${track}`}/mdia/mdhd`
  const box = boxTree(file).find((each) => each.path === path)
  const body = file.subarray((box?.start ?? 0) + (box?.header ?? 0))
  if (body[0] === 1) return { timeScale: body.readUInt32BE(20), ticks: Number(body.readBigUInt64BE(24)) }
  return { timeScale: body.readUInt32BE(12), ticks: body.readUInt32BE(16) }
}

/** The parts of a range that belong to no packet of a track. */
function besideVoice(file: Buffer, voice: number, start: number, end: number) {
  const samples = trackSamples(file, voice).map(
    ({ byteOffset, length }) => [byteOffset - file.byteOffset, length] as const,
  )
  const inside = samples.filter(([at]) => at >= start && at < end).sort(([one], [other]) => one - other)
  const ends = [start, ...inside.map(([at, length]) => at + length)]
  const ranges = ends.map((from, place) => [from, inside[place]?.[0] ?? end] as const)
  return ranges.filter(([from, to]) => to > from)
}

function dataBytes(file: Buffer): number {
  return boxTree(file).reduce((sum, { path, size, header }) => sum + (path.startsWith('mdat') ? size - header : 0), 0)
}

function itemOf(file: Buffer): Buffer {
  const box = boxTree(file).find(({ path }) => path === 'meta/iloc')
  const at = box ? file.readUInt32BE(box.start + box.size - 8) : 0
  return file.subarray(at, at + 11)
}
