import { readFile, truncate, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { readMatroska } from '../../../../src/media/write/matroska/read/matroska-file.js'
import { ffmpeg, ffmpegOutput, picture } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { ebmlTree, find, type Node } from './ebml-tree.js'
import { laceMatroska } from './laced-matroska.js'

const folder = folderOfTests()

/** A sound that resembles itself at no other time. */
const sweep = ['-f', 'lavfi', '-i', 'aevalsrc=0.4*sin(2*PI*t*(200+150*t)):s=48000:d=3']
const form = ['-c:v', 'mpeg4', '-g', '10', '-c:a', 'aac', '-cluster_time_limit', '500', '-live', '1']

/** The head of an element of 20,000 bytes that nobody knows. */
const UNKNOWN = [0x42, 0x42, 0x10, 0, 0x4e, 0x20]
/** The head of a group of six bytes, in which no block fits. */
const GROUP = [0xa0, 0x86]

/** A recording in several clusters of known or unknown sizes, with other bytes in its third one. */
async function damagedFilm(name: string, hasSizes: boolean, damage: (cluster: Node, film: Buffer) => void) {
  const path = folder.file(name)
  await ffmpeg(...picture(3), ...sweep, ...form, path)
  const film = await readFile(path)
  const clusters = find(ebmlTree(film), '18538067', '1f43b675')
  damage(clusters[2] as Node, film)
  if (!hasSizes) {
    for (const { start, dataStart } of clusters) {
      film.fill(0xff, start + 4, dataStart)
      film[start + 4] = 0xff >> (dataStart - start - 5)
    }
  }
  await writeFile(path, film)
  return path
}

/** Times in milliseconds and hashes of the packets of sound. */
async function soundPackets(path: string) {
  const rows = await ffmpegOutput('-f', 'matroska', '-i', path, '-map', '0:a', '-c', 'copy', '-f', 'framemd5', '-')
  return [...rows.toString().matchAll(/^\d+, *-?\d+, *(-?\d+),.*, *(\w+)$/gm)].map(([, ms, hash]) => ({
    ms: Number(ms),
    hash,
  }))
}

it.each([
  ['zeros in the place of a block', 'block.mkv', true, [], ({ children }: Node) => children[6]?.start],
  ['zeros in a group', 'group.mkv', true, GROUP, ({ children }: Node) => children[6]?.start],
  ['zeros in a cluster without a size', 'live.mkv', false, [], ({ children }: Node) => children[6]?.start],
  ['zeros in the place of a cluster', 'head.mkv', true, [], ({ start }: Node) => start],
  ['an unknown element that exceeds its cluster', 'long.mkv', true, UNKNOWN, ({ start }: Node) => start],
])('goes on behind %s, as players do', async (_name, name, hasSizes, head, placeOf) => {
  const path = await damagedFilm(name, hasSizes, (cluster, film) => {
    const at = placeOf(cluster) as number
    film.fill(0, at, at + 16)
    film.write('damaged!', at + 8)
    film.set(head, at)
  })
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('matroska')
  expect(plan.losses).toEqual([])
  for (const offset of syncOffsets(verified)) expect(offset ?? 0).toBe(0)
  const [was, is] = [await soundPackets(path), await soundPackets(part)]
  const old = new Set(was.map(({ hash }) => hash))
  expect(is.filter(({ hash }) => old.has(hash))).toEqual([])
  const times = is.map(({ ms }) => ms)
  expect(times).toEqual([...times].sort((one, other) => one - other))
  expect(Math.abs((is.at(-1)?.ms ?? 0) - (was.at(-1)?.ms ?? 0))).toBeLessThan(48)
  expect((await readFile(part)).includes('damaged!')).toBe(true)
})

it('finds a cluster if an unknown element seems to end inside its id', async () => {
  const lost = 40
  const path = await damagedFilm('inside.mkv', true, ({ dataStart, end }, film) => {
    film.writeUInt32BE(film.readUInt32BE(dataStart - 4) - lost, dataStart - 4)
    film.set([0x42, 0x42, 0x80 + lost - 1], end - lost)
  })
  const { plan, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('matroska')
  for (const offset of syncOffsets(verified)) expect(offset ?? 0).toBe(0)
})

it('leaves a file to ffmpeg of which ffmpeg reads other packets than its blocks hold', async () => {
  const path = await damagedFilm('third.mkv', true, ({ children }, film) => {
    // A block of a third track, which does not exist.
    film[(children[2] as Node).dataStart] = 0x83
  })
  const { plan } = await writtenFile(path)
  expect(plan.writing.declined).toEqual([
    { writer: 'matroska', reason: expect.stringMatching(/^ffmpeg reads \d+ packets, but its blocks hold \d+$/) },
  ])
})

it('leaves a file to ffmpeg of whose laced blocks ffmpeg reads fewer', async () => {
  const [plain, path] = [folder.file('plain.mka'), folder.file('laced.mka')]
  await ffmpeg(...sweep, '-c:a', 'ac3', plain)
  await laceMatroska(plain, path, 'xiph', 'shared')
  const film = await readFile(path)
  const [, , third] = find(ebmlTree(film), '18538067', '1f43b675')
  const block = third?.children.at(-1) as Node
  const [{ dataStart }] = block.children as [Node]
  // Behind the number of the track, its time, its flags and the number of its frames: sizes that exceed the block.
  await writeFile(path, film.fill(0xff, dataStart + 5, dataStart + 40))
  const { plan } = await writtenFile(path)
  expect(plan.writing.declined).toEqual([
    { writer: 'matroska', reason: expect.stringMatching(/^ffmpeg reads \d+ packets, but its blocks hold \d+$/) },
  ])
})

it('does not read a terabyte of zeros behind a recording', async () => {
  const path = await damagedFilm('reserved.mkv', false, () => {})
  const film = await readFile(path)
  const segment = film.indexOf(Buffer.from('18538067', 'hex')) + 4
  await writeFile(path, film.fill(0xff, segment + 1, segment + 8).fill(1, segment, segment + 1))
  await truncate(path, 2 ** 40)
  const { clusters } = await readMatroska(path, 2 ** 40)
  expect(clusters.at(-1)?.end).toBe(2 ** 40)
})
