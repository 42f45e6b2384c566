import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { uint32BE } from '../../../../src/media/number-bytes.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { box } from '../../movie-boxes.js'
import { boxTree, bytesOfBox } from './box-tree.js'

const folder = folderOfTests()

async function fragmentedFilm(name: string): Promise<string> {
  const path = folder.file(name)
  const flags = ['-g', '5', '-movflags', 'frag_keyframe+empty_moov+default_base_moof+skip_trailer']
  await ffmpeg(...picture(2, '64x48', 5), ...tone(2, 48_000, 1), '-c:v', 'mpeg4', '-c:a', 'aac', ...flags, path)
  return path
}

const [DATA_OFFSET, FIRST_FLAGS] = [0x1, 0x4]

/** A run of samples as two, of which the second states no place. */
function twoRuns(trun: Buffer): readonly Buffer[] {
  const [flags, samples] = [trun.readUInt32BE(8), trun.readUInt32BE(12)]
  const rowsAt = 20 + ((flags & FIRST_FLAGS) === 0 ? 0 : 4)
  const rowBytes = (trun.length - rowsAt) / samples
  const middle = rowsAt + rowBytes
  return [
    box('trun', Buffer.concat([uint32BE(flags, 1), trun.subarray(16, middle)])),
    box('trun', Buffer.concat([uint32BE(flags & ~(DATA_OFFSET | FIRST_FLAGS), samples - 1), trun.subarray(middle)])),
  ]
}

/** Splits the picture's run of each fragment. */
function split(moof: Buffer): Buffer {
  const tree = boxTree(moof).slice(1)
  const trafs = tree.filter(({ path }) => /^moof\/traf(#\d+)?$/.test(path))
  const rest = tree.filter(({ path }) => path === 'moof/mfhd').map((one) => bytesOfBox(moof, one))
  const made = trafs.map((traf, place) => {
    const children = tree.filter(({ parent }) => parent?.path === traf.path).map((one) => bytesOfBox(moof, one))
    const isRun = (bytes: Buffer) => place === 0 && bytes.toString('latin1', 4, 8) === 'trun'
    return box('traf', Buffer.concat(children.flatMap((bytes) => (isRun(bytes) ? twoRuns(bytes) : [bytes]))))
  })
  const whole = box('moof', Buffer.concat([...rest, ...made]))
  for (let at = whole.indexOf('trun'); at >= 0; at = whole.indexOf('trun', at + 4)) {
    if ((whole.readUInt32BE(at + 4) & DATA_OFFSET) === 0) continue
    whole.writeInt32BE(whole.readInt32BE(at + 12) + whole.length - moof.length, at + 12)
  }
  return whole
}

it('refuses fragments of which ffmpeg reads other packets than a player, before anything is sent', async () => {
  const path = await fragmentedFilm('unplaced.mp4')
  const film = await readFile(path)
  const roots = boxTree(film).filter(({ parent }) => parent === null)
  const parts = roots.map((root) =>
    root.path.startsWith('moof') ? split(bytesOfBox(film, root)) : bytesOfBox(film, root),
  )
  await writeFile(path, Buffer.concat(parts))
  await expect(planOutput(await probe(path), { replaced: [0] })).rejects.toMatchObject({
    ...{ code: 'ERR_UNREADABLE', errorCode: -2 },
  })
})

it('takes the fragments that ffmpeg writes', async () => {
  const { writing } = await planOutput(await probe(await fragmentedFilm('placed.mp4')), { replaced: [0] })
  expect(writing).toMatchObject({ kind: 'bytes', writer: 'iso-bmff' })
})
