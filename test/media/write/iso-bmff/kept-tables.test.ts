import { open, readFile, stat, writeFile } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { Box } from '../../../../src/media/probe/movie/box.js'
import { censusFaults } from '../../../../src/media/write/census.js'
import { censusOfIso } from '../../../../src/media/write/iso-bmff/census-of-iso.js'
import { readIsoFile } from '../../../../src/media/write/iso-bmff/read/iso-file.js'
import { readStructure } from '../../../../src/media/write/iso-bmff/read/read-structure.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()

async function isoFile(path: string) {
  const file = await open(path, 'r')
  try {
    return readIsoFile(await readStructure(file, (await file.stat()).size), 0)
  } finally {
    await file.close()
  }
}

it('keeps the packets of sound alone in memory, and refuses contradictions in any track', async () => {
  const path = folder.file('film.mp4')
  await ffmpeg(...picture(2, '64x48', 5), ...tone(2), '-c:v', 'libx264', '-c:a', 'aac', path)
  const { movie, oldTracks } = await isoFile(path)
  expect(movie.tracks.map(({ handler }) => handler)).toEqual(['vide', 'soun'])
  expect([...oldTracks.keys()]).toEqual([1])

  const bytes = await readFile(path)
  // The number of sizes of pictures: after the version, the flags and the common size.
  bytes.writeUInt32BE(1, bytes.indexOf('stsz') + 12)
  await writeFile(path, bytes)
  await expect(isoFile(path)).rejects.toThrow('more samples in chunks than sizes')
})

it('holds a few hundred bytes for a fragment of sound, and lists all of it', async () => {
  const path = folder.file('fragments.mp4')
  const each = ['-movflags', 'frag_every_frame+empty_moov+default_base_moof']
  await ffmpeg('-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=mono', '-t', '200', '-c:a', 'aac', ...each, path)
  const before = usedBytes()
  const file = await isoFile(path)
  const runs = file.oldTracks.get(0)?.runs.count ?? 0
  expect(runs).toBeGreaterThan(9000)
  // Their parsed boxes would take 5 kB each.
  expect((usedBytes() - before) / runs).toBeLessThan(1500)

  const census = censusOfIso(file, [0])
  expect(censusFaults(census, (await stat(path)).size)).toEqual([])
  expect([...census].filter(({ path }) => path === 'moof/traf/trun')).toHaveLength(runs)
})

it('reads each fragment once for all tracks, of which a film may have hundreds', async () => {
  const path = folder.file('tracks.mp4')
  const tracks = Array.from({ length: 20 }, () => ['-map', '0'])
  const fragments = ['-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '500000']
  await ffmpeg(...tone(3), ...tracks.flat(), '-c:a', 'aac', ...fragments, path)
  await using file = await open(path, 'r')
  const structure = await readStructure(file, (await file.stat()).size)
  const looks: number[] = []
  const counted = (box: Box): Box => {
    const get = () => {
      looks.push(box.start)
      return box.bytes
    }
    return Object.create(box, { bytes: { get } })
  }
  const boxes = structure.boxes.map((box) => (box.type === 'moof' ? counted(box) : box))
  const { oldTracks } = readIsoFile({ ...structure, boxes }, 0)
  expect([...oldTracks.values()].every(({ runs }) => runs.inFragments > 4)).toBe(true)
  expect(oldTracks.size).toBe(20)
  expect(looks).toEqual(structure.boxes.flatMap(({ type, start }) => (type === 'moof' ? start : [])))
})

function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

it('keeps the rate that a sound had before it became Opus', async () => {
  const path = folder.file('opus.mp4')
  await ffmpeg(...tone(2, 48_000, 1), '-c:a', 'libopus', path)
  const bytes = await readFile(path)
  // Behind the type: the version, the channels and the pre-skip.
  bytes.writeUInt32BE(44_100, bytes.indexOf('dOps') + 8)
  await writeFile(path, bytes)
  const { plan, part } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  const made = await readFile(part)
  expect(made.readUInt32BE(made.indexOf('dOps') + 8)).toBe(44_100)
})
