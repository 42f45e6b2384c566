import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { boxTree } from './box-tree.js'

const folder = folderOfTests()

const [OWN, LATER] = ['6d1d9b0542d544e680e2141daff757b2', 'd4807ef2ca3946958e5426cb9e46a79f']

/** Times that fragments of a track state: their own, and those of the fragments behind them. */
function smoothTimes(film: Buffer, track: number) {
  const boxes = boxTree(film)
  return boxes.flatMap((traf) => {
    const within = boxes.filter(({ parent }) => parent === traf)
    const header = within.find(({ path }) => path.endsWith('/tfhd'))
    if (!header || film.readUInt32BE(header.start + 12) !== track) return []
    const rows = (type: string | undefined, headBytes: number) => {
      const box = within.find(({ start }) => film.toString('hex', start + 8, start + 24) === type)
      const count = box ? Math.floor((box.size - 24 - headBytes) / 16) : 0
      return Array.from({ length: count }, (_, row) => {
        const at = (box?.start ?? 0) + 24 + headBytes + 16 * row
        return { time: film.readBigInt64BE(at), duration: film.readBigInt64BE(at + 8) }
      })
    }
    return [{ own: rows(OWN, 4)[0] as { time: bigint; duration: bigint }, later: rows(LATER, 5) }]
  })
}

it('moves the times that fragments state for Smooth Streaming to the new packets', async () => {
  const path = folder.file('smooth.ismv')
  const form = ['-c:v', 'mpeg4', '-g', '10', '-c:a', 'aac', '-ism_lookahead', '2', '-f', 'ismv']
  await ffmpeg(...picture(4, '64x48', 10), ...tone(4, 44_100, 1), ...form, path)
  const { plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('iso-bmff')
  expect([...census].filter(({ fate }) => fate === 'lost')).toEqual([])
  for (const offset of syncOffsets(verified)) expect(Math.abs(offset ?? 99)).toBeLessThan(2)
  const [before, after] = await Promise.all([path, part].map(async (each) => smoothTimes(await readFile(each), 2)))
  expect(after?.length).toBeGreaterThan(3)
  expect(before?.[0]?.later.filter(({ duration }) => duration > 0n)).toHaveLength(2)
  for (const [place, { own, later }] of (after ?? []).entries()) {
    const next = after?.[place + 1]
    if (next) expect(own.time + own.duration).toBe(next.own.time)
    const stated = later.slice(0, before?.[place]?.later.filter(({ duration }) => duration > 0n).length)
    expect(stated).toEqual(after?.slice(place + 1, place + 1 + stated.length).map((fragment) => fragment.own))
    // A fragment begins at most a packet later or earlier than before.
    expect(Math.abs(Number(own.time - (before?.[place]?.own.time ?? 0n)))).toBeLessThan((1024 * 1e7) / 44_100)
  }
})
