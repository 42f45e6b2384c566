import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { readUintBE } from '../../number-bytes.js'
import { unlessMalformed } from '../../probe/malformed-file.js'
import { type Box, bodyOf, childAt, childBoxes, isCutEnd } from '../../probe/movie/box.js'
import { fileBoxes } from '../../probe/movie/movie-boxes.js'
import { parseBoxes } from '../../probe/movie/parse-boxes.js'
import { chunkOffsets, durationRuns, type SampleChunk, trackChunks } from '../../probe/movie/sample-table.js'
import { liesHere, readMovie, type Track } from '../../write/iso-bmff/read/movie.js'
import { auxiliaryPlaces } from './auxiliary-places.js'
import { evenPlaces, type StatedPlace } from './stated-place.js'

/** Boxes of a file that are looked through for indices. A file may have a million fragments. */
const MOST_BOXES = 20_000
/** Fragments whose own indices are read. */
const MOST_FRAGMENTS = 200
const INDEXED: ReadonlySet<string> = new Set(['moov', 'moof', 'meta', 'sidx', 'mfra'])
const MAX_INDEX_BYTES = 64 * 1024 ** 2
/** Bytes that tell apart the first packets of chunks. */
const CHUNK_BYTES = 16
/** Boxes between a place and its fragment, such as `styp` and `sidx`. */
const MOST_BEFORE_FRAGMENT = 8
/** Types of boxes. Other bytes in their place show that a size before them is wrong. */
const PRINTABLE = /^[ -~\xa9]{4}$/
const BOX_HEAD_BYTES = 8
/** A length that a header has no room for. */
const UNKNOWN_LENGTH = 0xffff_ffff
/** Boxes that the output may lack. */
const PASSED_OVER: ReadonlySet<string> = new Set(['free', 'skip', 'uuid'])

/**
 * Reads where the entries of `sidx`, `tfra`, `saio` and `iloc` lead, and where the chunks of the kept tracks lie. Sizes of
 * boxes, and lengths that headers state, must be right.
 *
 * @param changed ids of the tracks with new packets, and of those that are left out
 */
export async function moviePlaces(file: FileHandle, changed: ReadonlySet<number>): Promise<readonly StatedPlace[]> {
  const { size: sizeBytes } = await file.stat()
  const places: StatedPlace[] = []
  let count = 0
  let fragments = 0
  let end = 0
  for await (const { type, startAt, endAt } of fileBoxes(file, sizeBytes)) {
    if (++count > MOST_BOXES) break
    end = PRINTABLE.test(type) ? endAt : -1
    if (!INDEXED.has(type) || endAt - startAt > MAX_INDEX_BYTES) continue
    if (type === 'moof' && ++fragments > MOST_FRAGMENTS) continue
    const bytes = await readAt(file, startAt, endAt - startAt)
    const [box] = unlessMalformed(() => parseBoxes(bytes, startAt, ''), [])
    places.push({ by: `the sizes in ${type}`, leadsTo: box ? '' : null })
    if (box) places.push(...(await placesOf(box, { file, sizeBytes, changed })))
  }
  const isWhole = count > MOST_BOXES || sizeBytes - end < BOX_HEAD_BYTES
  return [...places, { by: 'the sizes of boxes', leadsTo: isWhole ? '' : null }]
}

interface Movie {
  readonly file: FileHandle
  readonly sizeBytes: number
  readonly changed: ReadonlySet<number>
}

/** The places to which the entries of one box at the top of the file lead. */
async function placesOf(box: Box, { file, sizeBytes, changed }: Movie): Promise<readonly StatedPlace[]> {
  const places: StatedPlace[] = []
  if (box.type === 'moov') {
    const tracks = unlessMalformed(() => readMovie(box).tracks, [])
    places.push(...unlessMalformed(() => lengthsOf(tracks, changed), []), ...(await chunkPlaces(file, tracks, changed)))
  }
  for (const { by, at, bytes: most, mark } of unlessMalformed(() => auxiliaryPlaces(box, changed), [])) {
    const found = await readAt(file, at, Math.min(most, CHUNK_BYTES))
    const isUsed = found.length > 0 && (mark === undefined || found.includes(mark))
    places.push({ by, leadsTo: isUsed ? found.toString('hex') : null })
  }
  for (const { by, at, facts, newSec } of unlessMalformed(() => indexRows(box, changed), [])) {
    const found = await landmarkAt(file, sizeBytes, at)
    places.push({ by, leadsTo: found && `${found} ${facts}`, ...(newSec && { newSec }) })
  }
  return places
}

/** Names the boxes at a place by the fragment that they begin; null if nothing of an index lies there. */
async function landmarkAt(file: FileHandle, sizeBytes: number, at: number): Promise<string | null> {
  if (at === sizeBytes) return 'end'
  const types: string[] = []
  for await (const { type, bodyAt } of fileBoxes(file, sizeBytes, at)) {
    if (PASSED_OVER.has(type)) continue
    if (!isCutEnd(type) || types.length > MOST_BEFORE_FRAGMENT) return null
    types.push(type)
    // The number of a fragment is in its first box, which has two words before it.
    if (type === 'moof') return `${types.join(' ')} ${(await readAt(file, bodyAt + 12, 4)).toString('hex')}`
  }
  return types.length > 0 ? types.join(' ') : null
}

interface IndexRow {
  readonly by: string
  /** The stated place in the file. */
  readonly at: number
  /** Everything else that the entry states; empty for new packets. */
  readonly facts: string
  /** Its time, near that of the old one, if it leads to new packets. */
  readonly newSec?: StatedPlace['newSec'] | undefined
}

/** The entries of `sidx`, the end of its last one, and the entries of each `tfra` in `mfra`. */
function indexRows(box: Box, changed: ReadonlySet<number>): readonly IndexRow[] {
  if (box.type === 'mfra') return childBoxes(box, 'tfra').flatMap((table) => accessRows(bodyOf(table), changed))
  if (box.type !== 'sidx') return []
  const body = bodyOf(box)
  const width = body[0] === 1 ? 8 : 4
  const from = 16 + 2 * width
  const bounds = [box.start + box.length + readUintBE(body, 12 + width, width)]
  const ticks = [readUintBE(body, 12, width)]
  for (let row = from; row + 12 <= body.length; row += 12) {
    bounds.push((bounds.at(-1) as number) + (body.readUInt32BE(row) & 0x7fff_ffff))
    ticks.push((ticks.at(-1) as number) + body.readUInt32BE(row + 4))
  }
  const id = body.readUInt32BE(4)
  const isNew = changed.has(id)
  return evenPlaces(bounds.length).map((place) => {
    const facts = [body.subarray(12, 12 + width), body.subarray(from + 12 * place + 4, from + 12 * place + 12)]
    const [at, sec] = [bounds[place] as number, (ticks[place] as number) / body.readUInt32BE(8)]
    if (isNew) return { by: 'the places in sidx', at, facts: '', newSec: { of: `sidx ${id}`, stated: sec, found: sec } }
    return { by: 'the places in sidx', at, facts: Buffer.concat(facts).toString('hex') }
  })
}

function accessRows(body: Buffer, changed: ReadonlySet<number>): readonly IndexRow[] {
  const width = body[0] === 1 ? 8 : 4
  const sizes = body.readUInt32BE(8)
  const rowBytes = 2 * width + ((sizes >> 4) & 3) + ((sizes >> 2) & 3) + (sizes & 3) + 3
  const isNew = changed.has(body.readUInt32BE(4))
  return evenPlaces(Math.min(body.readUInt32BE(12), Math.floor((body.length - 16) / rowBytes))).map((place) => {
    const row = body.subarray(16 + rowBytes * place, 16 + rowBytes * (place + 1))
    const facts = Buffer.concat([row.subarray(0, width), row.subarray(2 * width)]).toString('hex')
    return { by: 'the places in tfra', at: readUintBE(row, width, width), facts: isNew ? '' : facts }
  })
}

/** Some chunks of a track. A film has hundreds of thousands, so the others are not kept. */
function evenChunks(stbl: Box | undefined): readonly SampleChunk[] {
  const wanted = new Set(evenPlaces(chunkOffsets(stbl).length))
  const found: SampleChunk[] = []
  let place = 0
  for (const chunk of trackChunks(stbl, null)) if (wanted.has(place++)) found.push(chunk)
  return found
}

/** The header of new sound must state the length of its packets, within a second. ffmpeg reads the shorter one. */
function lengthsOf(tracks: readonly Track[], changed: ReadonlySet<number>): readonly StatedPlace[] {
  const sounds = tracks.filter(({ id, handler }) => changed.has(id) && handler === 'soun')
  return sounds.map(({ id, box, stbl, timeScale }) => {
    const head = bodyOf(childAt(box, 'mdia', 'mdhd'))
    const stated = head[0] === 1 ? readUintBE(head, 24, 8) : readUintBE(head, 16, 4)
    const ticks = durationRuns(stbl).reduce((sum, run) => sum + run.count * run.ticks, 0)
    const isRight = Math.abs(stated - ticks) <= timeScale || stated >= UNKNOWN_LENGTH
    return { by: `the length of track ${id}`, leadsTo: isRight ? '' : null }
  })
}

async function chunkPlaces(
  file: FileHandle,
  tracks: readonly Track[],
  changed: ReadonlySet<number>,
): Promise<readonly StatedPlace[]> {
  const places: StatedPlace[] = []
  for (const track of tracks) {
    if (changed.has(track.id) || !liesHere(track)) continue
    for (const { start, bytes } of unlessMalformed(() => evenChunks(track.stbl), [])) {
      const found = await readAt(file, start, Math.min(bytes, CHUNK_BYTES))
      places.push({ by: `the index of track ${track.id}`, leadsTo: found.toString('hex') || null })
    }
  }
  return places
}
