import { uint32LE } from '../../number-bytes.js'
import { type BytePiece, newBytes } from '../byte-plan.js'
import { type CensusEntry, kept, lost, rewritten } from '../census.js'
import { type LevelField, levelField, NEW_LEVEL } from '../level/level-field.js'
import { staleReason } from '../stale-facts.js'
import { requireSane } from '../structure/structure.js'

/** A comment (Vorbis I, section 5), in FLAC, Vorbis, Opus or Theora. */
interface VorbisComment {
  readonly name: string
  /** Place of its length field in the list. */
  readonly start: number
  /** Bytes, length field included. */
  readonly length: number
}

/**
 * The comments of a list that begins with the vendor. Reads what is there if the list is damaged.
 *
 * @throws {MalformedFile} if there are too many
 */
export function vorbisComments(list: Buffer): readonly VorbisComment[] {
  const comments: VorbisComment[] = []
  const lengthAt = (at: number) => (at + 4 <= list.length ? list.readUInt32LE(at) : list.length)
  const first = firstAt(list)
  const count = first <= list.length ? list.readUInt32LE(first - 4) : 0
  for (let start = first; comments.length < count && start + 4 <= list.length; ) {
    const end = Math.min(start + 4 + lengthAt(start), list.length)
    const [name = ''] = list.toString('utf8', start + 4, end).split('=', 1)
    comments.push({ name, start, length: end - start })
    requireSane(comments, 'comments')
    start = end
  }
  return comments
}

function firstAt(list: Buffer): number {
  return list.length < 4 ? Number.POSITIVE_INFINITY : 4 + list.readUInt32LE(0) + 4
}

/** Comments that are wrong for new sound. */
export function staleComments(list: Buffer): readonly VorbisComment[] {
  return vorbisComments(list).filter(({ name }) => staleReason(name) !== null)
}

/** Values of comments that can be renewed at their place. @param at place of the list in the file */
export function commentLevels(list: Buffer, at: number): readonly LevelField[] {
  return vorbisComments(list).flatMap((comment) => levelOf(list, comment, at) ?? [])
}

function levelOf(list: Buffer, { name, start, length }: VorbisComment, at: number): LevelField | null {
  const from = start + 4 + Buffer.byteLength(name) + 1
  return levelField(name, list.subarray(from, start + length), at + from)
}

/** The list without the stale comments that cannot be renewed; the same bytes if there are none. */
export function freshComments(list: Buffer): Buffer {
  const gone = unrenewable(list)
  if (gone.length === 0) return list
  const { head, ranges } = freshParts(list, gone)
  return Buffer.concat([head, ...ranges.map(({ start, length }) => list.subarray(start, start + length))])
}

/** The list without the stale comments that cannot be renewed, as pieces. @param at place of the list in the file */
export function freshCommentPieces(list: Buffer, at: number): readonly BytePiece[] {
  const { head, ranges } = freshParts(list, unrenewable(list))
  const kept = ranges.map(({ start, length }): BytePiece => ({ kind: 'input', start: at + start, length }))
  return [newBytes(head), ...kept]
}

/** Gain of Opus with fewer characters than it may have (RFC 7845, section 5.2.1), which permits zeros at its start. */
const SHORT_GAIN = /^(r128_track_gain=)([+-]?)(\d{1,5})$/i
const GAIN_CHARACTERS = 6

/** The list with room for another number in each gain of Opus; the same bytes if there is none. */
export function roomyComments(list: Buffer): Buffer {
  const pieces: Buffer[] = []
  let from = 0
  for (const { start, length } of vorbisComments(list)) {
    const [, name, sign = '', digits = ''] = SHORT_GAIN.exec(list.toString('latin1', start + 4, start + length)) ?? []
    if (name === undefined) continue
    const text = Buffer.from(name + sign + digits.padStart(GAIN_CHARACTERS - sign.length, '0'))
    pieces.push(list.subarray(from, start), uint32LE(text.length), text)
    from = start + length
  }
  return Buffer.concat([...pieces, list.subarray(from)])
}

/** The stale comments that have no form in which they can be renewed at their place. */
export function unrenewable(list: Buffer): readonly VorbisComment[] {
  return staleComments(list).filter((comment) => levelOf(list, comment, 0) === null)
}

/** Vendor and number of comments, and the ranges of the list that stay. */
function freshParts(list: Buffer, stale: readonly VorbisComment[]) {
  const first = firstAt(list)
  const head = Buffer.from(list.subarray(0, first))
  head.writeUInt32LE(head.readUInt32LE(first - 4) - stale.length, first - 4)
  const ranges = [...stale, { start: list.length, length: 0 }].map(({ start }, place) => {
    const before = stale[place - 1]
    const from = before ? before.start + before.length : first
    return { start: from, length: start - from }
  })
  return { head, ranges }
}

/** Entries of a list with stale comments. @param start of the list in the file @param path of the structure that holds it */
export function commentEntries(list: Buffer, start: number, path: string): readonly CensusEntry[] {
  const comments = vorbisComments(list)
  const first = comments[0]?.start ?? list.length
  const last = comments.at(-1)
  const end = last ? last.start + last.length : first
  return [
    rewritten(path, start, first, 'the number of comments'),
    ...comments.map((comment) => {
      const { name, start: at, length } = comment
      const reason = staleReason(name)
      const place = `${path}:${name}`
      if (levelOf(list, comment, start)) return rewritten(place, start + at, length, NEW_LEVEL)
      return reason === null ? kept(place, start + at, length) : lost(place, start + at, length, reason)
    }),
    kept(`${path}/rest`, start + end, list.length - end),
  ].filter(({ length }) => length > 0)
}
