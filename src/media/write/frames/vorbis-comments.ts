import { type BytePiece, newBytes } from '../byte-plan.js'
import { type CensusEntry, kept, lost, rewritten } from '../census.js'
import { type LevelField, levelField, NEW_LEVEL } from '../level/level-field.js'
import { staleReason } from '../stale-facts.js'

/** A comment (Vorbis I, section 5), in FLAC, Vorbis, Opus or Theora. */
interface VorbisComment {
  readonly name: string
  /** Place of its length field in the list. */
  readonly start: number
  /** Bytes, length field included. */
  readonly length: number
}

/** The comments of a list that begins with the vendor. Reads what is there if the list is damaged. */
export function vorbisComments(list: Buffer): readonly VorbisComment[] {
  const comments: VorbisComment[] = []
  const lengthAt = (at: number) => (at + 4 <= list.length ? list.readUInt32LE(at) : list.length)
  const first = firstAt(list)
  const count = first <= list.length ? list.readUInt32LE(first - 4) : 0
  for (let start = first; comments.length < count && start + 4 <= list.length; ) {
    const end = Math.min(start + 4 + lengthAt(start), list.length)
    const [name = ''] = list.toString('utf8', start + 4, end).split('=', 1)
    comments.push({ name, start, length: end - start })
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

/** The list without its stale comments; the same bytes if there are none. */
export function freshComments(list: Buffer): Buffer {
  if (staleComments(list).length === 0) return list
  const { head, ranges } = freshParts(list, staleComments(list))
  return Buffer.concat([head, ...ranges.map(({ start, length }) => list.subarray(start, start + length))])
}

/** The list without the stale comments that cannot be renewed, as pieces. @param at place of the list in the file */
export function freshCommentPieces(list: Buffer, at: number): readonly BytePiece[] {
  const unrenewable = staleComments(list).filter((comment) => levelOf(list, comment, 0) === null)
  const { head, ranges } = freshParts(list, unrenewable)
  const kept = ranges.map(({ start, length }): BytePiece => ({ kind: 'input', start: at + start, length }))
  return [newBytes(head), ...kept]
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
