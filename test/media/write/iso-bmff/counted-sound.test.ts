import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { uint32BE } from '../../../../src/media/number-bytes.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { box } from '../../movie-boxes.js'

const folder = folderOfTests()

/** Sound of the first QuickTime: its tables count samples, and the codec alone states how many bytes hold them. */
interface CountedSound {
  readonly format: string
  readonly channels: number
  readonly packetSamples: number
  readonly packetBytes: number
}

const RATE = 22_050
const CHUNKS = 4
const PACKETS = 240
/** Bytes of nobody, behind each chunk. */
const GAP = Buffer.from('between the chunks')

/** Noise in four chunks. */
function countedFilm({ format, channels, packetSamples, packetBytes }: CountedSound) {
  const chunkSamples = PACKETS * packetSamples
  const samples = CHUNKS * chunkSamples
  const chunks = Array.from({ length: CHUNKS }, (_, chunk) => {
    return Buffer.from(
      Array.from({ length: PACKETS * packetBytes }, (_, at) => (((at * 31 + chunk * 7) ** 2) >> 3) & 255),
    )
  })
  const offsets = chunks.map((bytes, place) => 8 + place * (bytes.length + GAP.length))
  const shape = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])
  const entry = box(format, Buffer.concat([shape, uint32BE(0, 0, (channels << 16) | 16, 0, RATE * 0x1_0000)]))
  const tables = box(
    'stbl',
    Buffer.concat([
      box('stsd', Buffer.concat([uint32BE(0, 1), entry])),
      box('stts', uint32BE(0, 1, samples, 1)),
      box('stsc', uint32BE(0, 1, 1, chunkSamples, 1)),
      box('stsz', uint32BE(0, 1, samples)),
      box('stco', uint32BE(0, CHUNKS, ...offsets)),
    ]),
  )
  const here = box('dinf', box('dref', Buffer.concat([uint32BE(0, 1), box('alis', uint32BE(1))])))
  const information = box('minf', Buffer.concat([box('smhd', uint32BE(0, 0)), here, tables]))
  const kind = Buffer.concat([uint32BE(0), Buffer.from('mhlrsoun'), uint32BE(0, 0, 0), Buffer.from([0])])
  const clock = box('mdhd', uint32BE(0, 0, 0, RATE, samples, 0))
  const matrix = uint32BE(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000)
  const head = box(
    'tkhd',
    Buffer.concat([uint32BE(15, 0, 0, 1, 0, samples, 0, 0, 0, 0x100_0000), matrix, uint32BE(0, 0)]),
  )
  const media = box('mdia', Buffer.concat([clock, box('hdlr', kind), information]))
  const track = box('trak', Buffer.concat([head, media]))
  const movie = box('mvhd', Buffer.concat([uint32BE(0, 0, 0, RATE, samples, 0x1_0000), Buffer.alloc(72), uint32BE(2)]))
  const data = box('mdat', Buffer.concat(chunks.flatMap((bytes) => [bytes, GAP])))
  return { chunks, bytes: Buffer.concat([data, box('moov', Buffer.concat([movie, track]))]) }
}

it.each<CountedSound>([
  { format: 'ima4', channels: 1, packetSamples: 64, packetBytes: 34 },
  { format: 'ima4', channels: 2, packetSamples: 64, packetBytes: 68 },
  { format: 'MAC3', channels: 1, packetSamples: 6, packetBytes: 2 },
  { format: 'MAC6', channels: 2, packetSamples: 6, packetBytes: 2 },
])('replaces $format of $channels channels whose table of sizes counts samples', async (sound) => {
  const path = folder.file(`${sound.format}-${sound.channels}.mov`)
  const { chunks, bytes } = countedFilm(sound)
  await writeFile(path, bytes)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples ?? 0).toBe(0)
  const after = await readFile(part)
  for (const chunk of chunks) expect(after.includes(chunk.subarray(-8))).toBe(false)
  expect(after.toString('latin1').split(GAP.toString('latin1'))).toHaveLength(CHUNKS + 1)
})
