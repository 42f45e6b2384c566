import { readUintBE } from '../../number-bytes.js'
import { type Box, bodyOf, childAt, childBoxes, withDescendants } from '../../probe/movie/box.js'
import { liesHere, readMovie } from '../../write/iso-bmff/read/movie.js'
import { evenPlaces } from './stated-place.js'

/** A place in the file at which kept bytes begin. */
interface AuxiliaryPlace {
  readonly by: string
  readonly at: number
  /** Bytes that lie there at least. New packets may follow. */
  readonly bytes: number
  /** Text that lies there, behind the first four bytes, if the entry is in use. */
  readonly mark?: string
}

/** Bytes of the shortest key facts of a packet. */
const VECTOR_BYTES = 8
/** The base of a fragment is stated, or is its `moof`. */
const STATES_BASE = 0x1
const BASE_IS_MOOF = 0x2_0000

/**
 * Lists where `saio` of the kept tracks, `iloc`, and the table of a dashcam's GPS blocks lead.
 *
 * @param top a box of the file
 * @param changed see `moviePlaces`
 * @throws RangeError if a table is cut off
 */
export function auxiliaryPlaces(top: Box, changed: ReadonlySet<number>): readonly AuxiliaryPlace[] {
  if (top.type === 'moof') return fragmentPlaces(top, changed)
  const items = [...withDescendants(top)].flatMap((box) => (box.type === 'iloc' ? itemPlaces(bodyOf(box)) : []))
  if (top.type !== 'moov') return items
  const kept = readMovie(top).tracks.filter((track) => !changed.has(track.id) && liesHere(track))
  return [
    ...items,
    ...kept.flatMap(({ id, stbl }) => keyPlaces(stbl, id, 0)),
    ...childBoxes(top, 'gps ').flatMap((box) => dashcamPlaces(bodyOf(box))),
  ]
}

function fragmentPlaces(moof: Box, changed: ReadonlySet<number>): readonly AuxiliaryPlace[] {
  return childBoxes(moof, 'traf').flatMap((traf, place) => {
    const head = bodyOf(childAt(traf, 'tfhd'))
    const [flags, id] = [readUintBE(head, 0, 4), readUintBE(head, 4, 4)]
    if (changed.has(id)) return []
    if (flags & STATES_BASE) return keyPlaces(traf, id, readUintBE(head, 8, 8))
    return place === 0 || flags & BASE_IS_MOOF ? keyPlaces(traf, id, moof.start) : []
  })
}

/** Places of the keys of encrypted packets. */
function keyPlaces(parent: Box | undefined, id: number, base: number): readonly AuxiliaryPlace[] {
  return childBoxes(parent, 'saio').flatMap((box) => {
    const body = bodyOf(box)
    const width = body[0] === 0 ? 4 : 8
    const from = (body.readUInt32BE(0) & 1) === 0 ? 4 : 12
    const count = Math.min(body.readUInt32BE(from), Math.floor((body.length - from - 4) / width))
    return evenPlaces(count).map((row) => ({
      by: `the places in saio of track ${id}`,
      at: base + readUintBE(body, from + 4 + row * width, width),
      bytes: VECTOR_BYTES,
    }))
  })
}

/** Places of the items (pictures, XML) whose bytes lie in this file. */
function itemPlaces(body: Buffer): readonly AuxiliaryPlace[] {
  const version = body.readUInt8(0)
  const [offsets, lengths] = [body.readUInt8(4) >> 4, body.readUInt8(4) & 15]
  const [bases, indices] = [body.readUInt8(5) >> 4, version === 0 ? 0 : body.readUInt8(5) & 15]
  const idBytes = version === 2 ? 4 : 2
  const places: AuxiliaryPlace[] = []
  let at = 6 + idBytes
  for (let item = readUintBE(body, 6, idBytes); item > 0 && places.length < 200; item--) {
    at += idBytes
    // The method is in the last bits of its two bytes; another method or file has a number that is not zero.
    const where = version === 0 ? body.readUInt16BE(at) : (body.readUInt16BE(at) & 15) + body.readUInt16BE(at + 2)
    at += version === 0 ? 2 : 4
    const base = readUintBE(body, at, bases)
    const extents = body.readUInt16BE(at + bases)
    at += bases + 2
    if (where === 0 && extents > 0) {
      const bytes = readUintBE(body, at + indices + offsets, lengths)
      places.push({ by: 'the places in iloc', at: base + readUintBE(body, at + indices, offsets), bytes })
    }
    at += extents * (indices + offsets + lengths)
  }
  return places
}

function dashcamPlaces(body: Buffer): readonly AuxiliaryPlace[] {
  return evenPlaces(Math.floor((body.length - 8) / 8)).map((row) => ({
    by: 'the places in the table of GPS blocks',
    at: body.readUInt32BE(8 + 8 * row),
    bytes: 12,
    mark: 'freeGPS ',
  }))
}
