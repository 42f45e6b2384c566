import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { ebmlTree, find, type Node } from './ebml-tree.js'
import { element } from './made-elements.js'

const folder = folderOfTests()

const EMPTY_SPACE = element(0xec, 1, Buffer.alloc(100))

/** A live recording: its segment states no size, so that elements can be put anywhere. */
async function liveFilm(name: string, change: (film: Buffer, segment: Node) => Buffer): Promise<string> {
  const path = folder.file(name)
  const form = ['-c:v', 'mpeg4', '-g', '10', '-c:a', 'flac', '-cluster_time_limit', '500', '-live', '1']
  await ffmpeg(...picture(2), ...tone(2), ...form, path)
  const film = await readFile(path)
  await writeFile(path, change(film, find(ebmlTree(film), '18538067')[0] as Node))
  return path
}

function insert(film: Buffer, at: number, bytes: Buffer): Buffer {
  return Buffer.concat([film.subarray(0, at), bytes, film.subarray(at)])
}

it('keeps empty space before the segment', async () => {
  const path = await liveFilm('space.mkv', (film, segment) => insert(film, segment.start, EMPTY_SPACE))
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('matroska')
  for (const offset of syncOffsets(verified)) expect(offset ?? 0).toBe(0)
  const [, space, segment] = ebmlTree(await readFile(part))
  expect([space?.id, segment?.id]).toEqual(['ec', '18538067'])
})

it('writes a list of tracks that is repeated like the first one, and none that differs', async () => {
  const repeat = (film: Buffer, { children }: Node, change: (tracks: Buffer) => Buffer) => {
    const [tracks, second] = [find(children, '1654ae6b')[0] as Node, find(children, '1f43b675')[1] as Node]
    return insert(film, second.start, change(Buffer.from(film.subarray(tracks.start, tracks.end))))
  }
  const path = await liveFilm('repeated.mkv', (film, segment) => repeat(film, segment, (tracks) => tracks))
  const { plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('matroska')
  expect([...census].filter(({ reason }) => reason === 'copy of the first one')).toHaveLength(1)
  for (const offset of syncOffsets(verified)) expect(offset ?? 0).toBe(0)
  const film = await readFile(part)
  const [first, second] = find(ebmlTree(film), '18538067', '1654ae6b').map((node) => {
    return film.toString('hex', node.start, node.end)
  })
  expect(second).toBe(first)
  expect(first).not.toBeUndefined()

  const other = await liveFilm('other.mkv', (film, segment) => {
    return repeat(film, segment, (tracks) => tracks.fill(1, tracks.length - 1))
  })
  const { declined } = (await writtenFile(other)).plan.writing
  expect(declined).toEqual([{ writer: 'matroska', reason: 'it lists its tracks twice' }])
})
