import { open, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import type { MediaInfo } from '../../../../src/media/media-info.js'
import { pieceLength } from '../../../../src/media/write/byte-plan.js'
import { censusFaults } from '../../../../src/media/write/census.js'
import { matroska } from '../../../../src/media/write/matroska/matroska.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { ebmlTree, find, numberIn } from './ebml-tree.js'
import { EBML, element, idBytes, marked, size, text, uint } from './made-elements.js'
import { sideFile } from './made-side.js'

const folder = folderOfTests()

const GAP_BYTES = 5 * 1024 ** 3 + 1

it('writes places behind elements that are larger than 4 GiB', async () => {
  const block = (time: number) => element(0xa3, 1, Buffer.from([0x81, 0, time, 0x80]), marked(9, time))
  const entry = element(0xae, 1, uint(0xd7, 1), uint(0x83, 2), text(0x86, 'A_FLAC'))
  const seek = (position: number) => {
    return element(0x4dbb, 1, element(0x53ab, 1, idBytes(0x1c53bb6b)), uint(0x53ac, position, 5))
  }
  const front = (position: number) => {
    const head = Buffer.concat([idBytes(0xec), size(GAP_BYTES, 8)])
    return Buffer.concat([element(0x114d9b74, 1, seek(position)), element(0x1654ae6b, 1, entry), head])
  }
  const clusterAt = front(0).length + GAP_BYTES
  const cluster = element(0x1f43b675, 1, uint(0xe7, 0), block(5), block(25))
  const cue = element(0xbb, 1, uint(0xb3, 5), element(0xb7, 1, uint(0xf7, 1), uint(0xf1, clusterAt)))
  const back = Buffer.concat([cluster, element(0x1c53bb6b, 1, cue)])
  const before = front(clusterAt + cluster.length)
  const head = Buffer.concat([EBML, idBytes(0x18538067), size(clusterAt + back.length, 5), before])
  const path = folder.file('large.mkv')
  const sizeBytes = head.length + GAP_BYTES + back.length
  const file = await open(path, 'w')
  await file.write(head, 0, head.length, 0)
  await file.write(back, 0, back.length, head.length + GAP_BYTES)
  await file.close()
  const side = folder.file('side.mka')
  await writeFile(side, sideFile({ sizes: [300, 200], packetMs: 20 }))

  const input = { kind: 'audio', index: 0, audioIndex: 0, sampleRate: 48_000, channels: 2, startSec: 0.005 }
  const media = {
    path,
    sizeBytes,
    startSec: 0.005,
    formatName: 'matroska,webm',
    streams: [input],
  } as unknown as MediaInfo
  const encoding = { codec: 'flac', encoder: 'flac', lossless: true, bitRate: null, options: [] }
  const wanted = { media, tracks: [{ input: input as never, encoding, channels: 2 }] }
  const parsed = await matroska.parse(media)
  if (parsed === null || typeof parsed === 'string') throw new Error('not parsed')
  const survey = matroska.survey(parsed, wanted)
  if (survey.kind === 'declines') throw new Error(survey.reason)
  expect(censusFaults(survey.census, sizeBytes)).toEqual([])
  const donor = await matroska.readDonor(side, wanted.tracks[0] as never, undefined, parsed)

  // The bytes of the output, but for the long hole.
  const parts: Buffer[] = []
  let holeAt = 0
  const sources = { input: await open(path, 'r'), donor: await open(side, 'r') }
  for (const piece of matroska.layOut(parsed, wanted, [donor]).pieces) {
    if (piece.kind === 'bytes') parts.push(Buffer.from(piece.bytes))
    if (piece.kind !== 'input' && piece.kind !== 'donor') continue
    const length = pieceLength(piece)
    const isHole = length > GAP_BYTES
    const taken = isHole ? length - GAP_BYTES : length
    const bytes = Buffer.alloc(taken)
    await sources[piece.kind].read(bytes, 0, taken, piece.start)
    parts.push(bytes)
    if (isHole) holeAt = Buffer.concat(parts).length
  }
  await Promise.all([sources.input.close(), sources.donor.close()])
  const after = Buffer.concat(parts)
  const dataStart = after.indexOf(idBytes(0x114d9b74))
  const [seekHead] = ebmlTree(after, dataStart, holeAt - 9)
  const [made, cues] = ebmlTree(after, holeAt)
  const position = (start = 0) => start - dataStart + GAP_BYTES
  expect(numberIn(after, find(seekHead?.children ?? [], '4dbb', '53ac')[0])).toBe(position(cues?.start))
  expect(numberIn(after, find(cues?.children ?? [], 'bb', 'b7', 'f1')[0])).toBe(position(made?.start))
  expect(position(cues?.start)).toBeGreaterThan(2 ** 32)
})
