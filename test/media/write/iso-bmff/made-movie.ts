import { uint32BE } from '../../../../src/media/number-bytes.js'
import fc from '../../../helpers/properties.js'

/** A track as the tests make it up. */
export interface MadeTrack {
  readonly timeScale: number
  /** Ticks of every sample. */
  readonly ticks: number
  /** Sizes of the samples of each chunk. */
  readonly chunks: readonly (readonly number[])[]
  /** True for places and times of 64 bits. */
  readonly isWide: boolean
  readonly sizes: 'stsz' | 'stz2'
  readonly edits: boolean
}

/** A movie as the tests make it up. */
export interface MadeMovie {
  readonly tracks: readonly MadeTrack[]
  /** Of which track the next chunk is; runs out into the order of the tracks. */
  readonly order: readonly number[]
  /** Bytes that belong to nobody, before each chunk. */
  readonly gaps: readonly number[]
  /** After how many chunks a new `mdat` begins. */
  readonly split: number
  readonly longHeaders: boolean
  readonly indexFirst: boolean
  readonly withItems: boolean
  readonly unknown: readonly string[]
}

const track: fc.Arbitrary<MadeTrack> = fc.record({
  timeScale: fc.constantFrom(600, 1000, 22_050, 44_100, 48_000, 90_000),
  ticks: fc.integer({ min: 1, max: 2048 }),
  chunks: fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 8,
  }),
  isWide: fc.boolean(),
  sizes: fc.constantFrom('stsz', 'stz2'),
  edits: fc.boolean(),
})

/** Where an unknown box stands. */
const PLACES = ['', 'moov', 'trak', 'mdia', 'minf', 'stbl', 'udta', 'edts'] as const

export const movies: fc.Arbitrary<MadeMovie> = fc.record({
  tracks: fc.array(track, { minLength: 1, maxLength: 3 }),
  order: fc.array(fc.nat({ max: 2 }), { maxLength: 24 }),
  gaps: fc.array(fc.nat({ max: 9 }), { maxLength: 24 }),
  split: fc.integer({ min: 1, max: 12 }),
  longHeaders: fc.boolean(),
  indexFirst: fc.boolean(),
  withItems: fc.boolean(),
  unknown: fc.uniqueArray(fc.constantFrom(...PLACES)),
})

function box(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + body.length)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, body])
}

function longBox(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32BE(1)
  head.write(type, 4, 'latin1')
  head.writeBigUInt64BE(BigInt(16 + body.length), 8)
  return Buffer.concat([head, body])
}

/** Bytes that differ from place to place, so that a wrong range shows. */
function marked(length: number, mark: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, at) => (mark * 31 + at * 7 + 1) & 255))
}

const matrix = uint32BE(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000)
const durationOf = ({ chunks, ticks }: MadeTrack) => chunks.flat().length * ticks

function sampleSizes({ chunks, sizes }: MadeTrack): Buffer {
  const all = chunks.flat()
  return sizes === 'stsz'
    ? box('stsz', uint32BE(0, 0, all.length, ...all))
    : box('stz2', uint32BE(0, 8, all.length), Buffer.from(all))
}

function trackBox(made: MadeTrack, place: number, offsets: readonly number[], unknown: (at: string) => Buffer): Buffer {
  const { chunks, ticks, timeScale, isWide, edits } = made
  const wide = Buffer.concat(offsets.map((offset) => uint32BE(0, offset)))
  const entry = box('mp4a', Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), uint32BE(0, 0, 0x0001_0010, 0, 0xbb80_0000))
  const table = box(
    'stbl',
    box('stsd', uint32BE(0, 1), entry),
    box('stts', uint32BE(0, 1, chunks.flat().length, ticks)),
    unknown('stbl'),
    box('stsc', uint32BE(0, chunks.length, ...chunks.flatMap((chunk, index) => [index + 1, chunk.length, 1]))),
    sampleSizes(made),
    isWide ? box('co64', uint32BE(0, offsets.length), wide) : box('stco', uint32BE(0, offsets.length, ...offsets)),
  )
  const duration = Math.round((durationOf(made) * 1000) / timeScale)
  const list = box('elst', uint32BE(0, 1, duration, 0, 0x1_0000))
  return box(
    'trak',
    box('tkhd', uint32BE(3, 0, 0, place + 1, 0, duration, 0, 0, 0, 0), matrix, uint32BE(0, 0)),
    unknown('trak'),
    ...(edits ? [box('edts', list, unknown('edts'))] : []),
    box(
      'mdia',
      isWide
        ? box('mdhd', uint32BE(0x0100_0000, 0, 0, 0, 0, timeScale, 0, durationOf(made), 0x55c4_0000))
        : box('mdhd', uint32BE(0, 0, 0, timeScale, durationOf(made), 0x55c4_0000)),
      unknown('mdia'),
      box('hdlr', uint32BE(0, 0), Buffer.from('soun'), uint32BE(0, 0, 0), Buffer.from([0])),
      box(
        'minf',
        box('smhd', uint32BE(0, 0)),
        box('dinf', box('dref', uint32BE(0, 1), box('url ', uint32BE(1)))),
        unknown('minf'),
        table,
      ),
    ),
  )
}

/** Makes the bytes of a movie. The items of its `meta` lie in bytes that belong to no track. */
export function movieFile(movie: MadeMovie): { readonly bytes: Buffer; readonly item: Buffer | null } {
  const { tracks, unknown } = movie
  const strange = (at: string) =>
    unknown.includes(at as (typeof PLACES)[number]) ? box('zzzz', marked(7, at.length + 3)) : Buffer.alloc(0)
  const order = interleaved(movie)
  const item = movie.withItems ? marked(11, 99) : null
  const index = (offsets: readonly (readonly number[])[]) =>
    box(
      'moov',
      box(
        'mvhd',
        uint32BE(
          0,
          0,
          0,
          1000,
          Math.max(...tracks.map((made) => Math.round((durationOf(made) * 1000) / made.timeScale))),
        ),
        Buffer.alloc(80),
      ),
      ...tracks.map((made, place) => trackBox(made, place, offsets[place] ?? [], strange)),
      strange('moov'),
      box('udta', strange('udta'), Buffer.alloc(4)),
    )
  const meta = (at: number) => {
    const place = Buffer.concat([Buffer.from([0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1]), uint32BE(at, 11)])
    return item ? box('meta', uint32BE(0), box('hdlr', uint32BE(0, 0, 0, 0, 0)), box('iloc', place)) : Buffer.alloc(0)
  }
  const none = tracks.map(({ chunks }) => chunks.map(() => 0))
  const head = [box('ftyp', Buffer.from('isom'), uint32BE(0)), strange('')]
  const first = movie.indexFirst ? [index(none), meta(0)] : []
  const dataAt = Buffer.concat([...head, ...first]).length
  const { bytes: data, offsets, itemAt } = mediaData(movie, order, dataAt, item)
  const last = movie.indexFirst ? [index(offsets), meta(itemAt)] : [index(offsets), meta(itemAt)]
  const parts = movie.indexFirst ? [...head, ...last, data] : [...head, data, ...last]
  return { bytes: Buffer.concat([...parts, box('free', marked(5, 4))]), item }
}

function interleaved({ tracks, order }: MadeMovie): readonly (readonly [number, number])[] {
  const next = tracks.map(() => 0)
  const every = [
    ...order.filter((place) => place < tracks.length),
    ...tracks.flatMap((made, place) => made.chunks.map(() => place)),
  ]
  return every.flatMap((place) => {
    const chunk = next[place] as number
    if (chunk >= (tracks[place] as MadeTrack).chunks.length) return []
    next[place] = chunk + 1
    return [[place, chunk] as const]
  })
}

function mediaData(
  movie: MadeMovie,
  order: readonly (readonly [number, number])[],
  dataAt: number,
  item: Buffer | null,
) {
  const offsets: number[][] = movie.tracks.map(() => [])
  const headerBytes = movie.longHeaders ? 16 : 8
  const boxes: Buffer[] = []
  let at = dataAt
  let itemAt = 0
  for (let from = 0; from < order.length; from += movie.split) {
    const body: Buffer[] = []
    let inside = at + headerBytes
    const put = (bytes: Buffer) => {
      body.push(bytes)
      inside += bytes.length
    }
    for (const [place, chunk] of order.slice(from, from + movie.split)) {
      put(marked(movie.gaps[body.length] ?? 0, 200))
      if (item && itemAt === 0) {
        itemAt = inside
        put(item)
      }
      ;(offsets[place] as number[])[chunk] = inside
      const sizes = movie.tracks[place]?.chunks[chunk] ?? []
      for (const [sample, size] of sizes.entries()) put(marked(size, 40 * place + 5 * chunk + sample))
    }
    const made = movie.longHeaders ? longBox('mdat', Buffer.concat(body)) : box('mdat', ...body)
    boxes.push(made)
    at += made.length
  }
  return { bytes: Buffer.concat(boxes), offsets, itemAt }
}
