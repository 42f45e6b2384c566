import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { readAt } from '../../../core/read-at.js'
import { bodiesIn, numberIn, readHead, readUint, readVint } from '../../probe/matroska/ebml.js'
import { ID, nameOfId } from '../../probe/matroska/ids.js'
import { matroskaSegment } from '../../probe/matroska/matroska-clock.js'
import { type NearReader, nearReader } from '../../probe/near-reader.js'
import { evenPlaces, type StatedPlace } from './stated-place.js'

const SEEK_ID = 0x53ab
const AUDIO = 2
/** The head of an element, and that of the block in it. */
const HEAD_BYTES = 32
const READ: ReadonlySet<number> = new Set([ID.SeekHead, ID.Info, ID.Tracks, ID.Cues, ID.Tags])
const BLOCKS: ReadonlySet<number> = new Set([ID.SimpleBlock, ID.BlockGroup, ID.EncryptedBlock])
const MOST_BEFORE_CLUSTERS = 200
const MAX_PART_BYTES = 64 * 1024 ** 2
/** Elements of the segment that are walked through. A film has a cluster for each second, or for five. */
const MOST_ELEMENTS = 20_000
const OPUS_HEAD_BYTES = 19
const MOST_PRIMING_OFF_NS = 1e6
/** Bytes of a checksum, head included. */
const SUM_BYTES = 6

/**
 * Reads where each `SeekHead` leads. It also reads the time and the block of each entry in `Cues`, and the places that its
 * cluster states. Sizes and checksums must be right, which ffmpeg does not require.
 *
 * @param replaced tracks with new packets, by their place among those of sound
 */
export async function matroskaPlaces(file: FileHandle, replaced: ReadonlySet<number>): Promise<readonly StatedPlace[]> {
  const segment = await matroskaSegment(file)
  if (!segment) return []
  const zero = segment.start + segment.head.headBytes
  const near = nearReader(file)
  const { parts, places } = await readParts(file, near, zero)
  places.push(await sizesIn(near, zero, segment.head.length))
  const bodyOf = (id: number) => parts.get(id) ?? Buffer.alloc(0)
  const tickSec = (numberIn(bodyOf(ID.Info), ID.TimestampScale) ?? 1_000_000) / 1e9
  const sound = bodiesIn(bodyOf(ID.Tracks), ID.TrackEntry).filter((entry) => numberIn(entry, ID.TrackType) === AUDIO)
  const news = new Set(sound.filter((_, place) => replaced.has(place)).map((entry) => numberIn(entry, ID.TrackNumber)))
  places.push(...sound.filter((_, place) => replaced.has(place)).map(primingOf))
  const points = bodiesIn(bodyOf(ID.Cues), ID.CuePoint)
  for (const place of evenPlaces(points.length)) {
    const point = points[place] as Buffer
    const tick = numberIn(point, ID.CueTime) ?? 0
    const timed = (what: string, found: number, isNew: boolean): StatedPlace =>
      isNew
        ? {
            by: 'the places in Cues',
            leadsTo: what,
            newSec: { of: what, stated: tick * tickSec, found: found * tickSec },
          }
        : { by: 'the places in Cues', leadsTo: `${what} at ${found}` }
    const positions = bodiesIn(point, ID.CueTrackPositions)
    places.push(
      timed(
        'time',
        tick,
        positions.every((position) => news.has(numberIn(position, ID.CueTrack))),
      ),
    )
    for (const position of positions) {
      const track = numberIn(position, ID.CueTrack)
      const isNew = news.has(track)
      const cluster = await clusterAt(near, zero + (numberIn(position, ID.CueClusterPosition) ?? 0), zero)
      const block = cluster && (await blockTickOf(near, cluster, position, tick))
      places.push(
        block === undefined ? { by: 'the places in Cues', leadsTo: null } : timed(`track ${track}`, block, isNew),
      )
      // New packets may lie in another cluster.
      places.push({ by: 'the places in Position', leadsTo: cluster?.statesPlace && !isNew ? '' : null })
      places.push({ by: 'the places in PrevSize', leadsTo: cluster?.statesPrevious && !isNew ? '' : null })
    }
  }
  return places
}

/** The bodies of the elements before the clusters, and of those to which a `SeekHead` leads, by id. */
async function readParts(file: FileHandle, near: NearReader, zero: number) {
  const places: StatedPlace[] = []
  const found = new Map<number, Found>()
  for await (const part of elementsIn(near, zero, Number.POSITIVE_INFINITY)) {
    if (part.id === ID.Cluster || found.size === MOST_BEFORE_CLUSTERS) break
    found.set(part.start, part)
  }
  const parts = new Map<number, Buffer>()
  // The list grows while it is read: one SeekHead may lead to another.
  for (const { id, bodyAt, end } of found.values()) {
    if (!READ.has(id)) continue
    const body = await readAt(file, bodyAt, Math.min(end - bodyAt, MAX_PART_BYTES))
    parts.set(id, body)
    if (body[0] === ID.Crc32) {
      const isRight = body.length >= SUM_BYTES && crc32(body.subarray(SUM_BYTES)) === body.readUInt32LE(2)
      places.push({ by: 'the checksums', leadsTo: isRight ? '' : null })
    }
    for (const seek of id === ID.SeekHead ? bodiesIn(body, ID.Seek) : []) {
      const part = await elementAt(near, zero + (numberIn(seek, ID.SeekPosition) ?? 0))
      const isRight = part !== undefined && part.id === numberIn(seek, SEEK_ID)
      places.push({ by: 'the places in SeekHead', leadsTo: isRight ? nameOfId(part.id) : null })
      if (isRight) found.set(part.start, part)
    }
  }
  return { parts, places }
}

/** Each element begins where the one before it ends, up to the end of the segment. A live recording states no sizes. */
async function sizesIn(near: NearReader, zero: number, length: number | null): Promise<StatedPlace> {
  let at = zero
  let count = 0
  for await (const { end } of elementsIn(near, zero, zero + (length ?? 0))) {
    at = count++ < MOST_ELEMENTS ? end : Number.POSITIVE_INFINITY
    if (at === Number.POSITIVE_INFINITY) break
  }
  const isRight = at === Number.POSITIVE_INFINITY || at === zero + (length ?? 0)
  return { by: 'the sizes in Segment', leadsTo: isRight ? '' : null }
}

/** The sound that a new entry states. Players drop as much of Opus as `CodecDelay` says, and ffmpeg as its header does. */
function primingOf(entry: Buffer): StatedPlace {
  const [[codec], [head]] = [bodiesIn(entry, ID.CodecID), bodiesIn(entry, ID.CodecPrivate)]
  const by = 'the priming of Opus'
  if (codec?.toString('latin1') !== 'A_OPUS') return { by, leadsTo: '' }
  const isHead = head !== undefined && head.length >= OPUS_HEAD_BYTES && head.toString('latin1', 0, 8) === 'OpusHead'
  const statedNs = isHead ? (head.readUInt16LE(10) / 48_000) * 1e9 : Number.NaN
  const isRight = Math.abs((numberIn(entry, ID.CodecDelay) ?? 0) - statedNs) < MOST_PRIMING_OFF_NS
  return { by, leadsTo: isRight ? '' : null }
}

/** A cluster with its time, and whether it states its place and the size of the one before. */
async function clusterAt(near: NearReader, start: number, zero: number) {
  const cluster = await elementAt(near, start)
  if (cluster?.id !== ID.Cluster) return undefined
  const numbers = new Map<number, number>()
  for await (const { id, bodyAt, end, head } of elementsIn(near, cluster.bodyAt, cluster.end)) {
    if (BLOCKS.has(id)) break
    if (end - bodyAt <= 8) numbers.set(id, readUint(head.subarray(0, end - bodyAt)))
  }
  const previous = await elementAt(near, start - (numbers.get(ID.PrevSize) ?? 0))
  return {
    ...cluster,
    tick: numbers.get(ID.Timestamp) ?? 0,
    statesPlace: numbers.get(ID.Position) === start - zero,
    statesPrevious: previous?.id === ID.Cluster && previous.end === start,
  }
}

/** Time of the block to which a cue leads, in ticks; undefined if it leads to none of its track. */
async function blockTickOf(near: NearReader, cluster: Found & { readonly tick: number }, cue: Buffer, cueTick: number) {
  const [track, relative, number] = [ID.CueTrack, ID.CueRelativePosition, ID.CueBlockNumber].map((id) =>
    numberIn(cue, id),
  )
  const tickOf = async (element: Found | undefined) => {
    const block = element && (await blockIn(near, element))
    return block && block.track === track ? cluster.tick + block.tick : undefined
  }
  if (relative !== undefined) return tickOf(await elementAt(near, cluster.bodyAt + relative))
  let count = 0
  for await (const element of elementsIn(near, cluster.bodyAt, cluster.end)) {
    if (!BLOCKS.has(element.id)) continue
    count += 1
    const tick = await tickOf(element)
    if (number === undefined ? tick === cueTick : count === number) return tick
  }
  return undefined
}

/** Track and time of a block, counted from that of its cluster. */
async function blockIn(near: NearReader, { id, bodyAt, end, head }: Found): Promise<Block | undefined> {
  if (id === ID.BlockGroup) {
    for await (const child of elementsIn(near, bodyAt, end)) if (child.id === ID.Block) return blockIn(near, child)
  }
  const track = readVint(head, 0)
  const isBlock = (id === ID.SimpleBlock || id === ID.Block) && track !== undefined && head.length >= track.width + 2
  return isBlock ? { track: track.value, tick: head.readInt16BE(track.width) } : undefined
}

interface Block {
  readonly track: number
  readonly tick: number
}

/** An element in the file, with the first bytes of its body. */
interface Found {
  readonly id: number
  readonly start: number
  readonly bodyAt: number
  /** Infinite if its head states none. */
  readonly end: number
  readonly head: Buffer
}

async function elementAt(near: NearReader, start: number): Promise<Found | undefined> {
  const bytes = await near(start, HEAD_BYTES)
  const head = readHead(bytes, 0)
  if (!head) return undefined
  const bodyAt = start + head.headBytes
  const end = head.length === null ? Number.POSITIVE_INFINITY : bodyAt + head.length
  return { id: head.id, start, bodyAt, end, head: bytes.subarray(head.headBytes) }
}

async function* elementsIn(near: NearReader, from: number, to: number): AsyncGenerator<Found> {
  for (let at = from; at < to; ) {
    const element = await elementAt(near, at)
    if (!element) return
    yield element
    at = element.end
  }
}
