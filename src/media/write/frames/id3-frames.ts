import { type BytePiece, newBytes } from '../byte-plan.js'
import { type CensusEntry, kept, lost, rewritten, SIGNS_OLD_BYTES } from '../census.js'
import { isOfAlbum, type LevelField, levelField, NEW_LEVEL, relativeVolumeField } from '../level/level-field.js'
import { OLD_LEVEL, staleReason } from '../stale-facts.js'
import { id3FramesOf, UNSYNCHRONISED } from './id3-parse.js'

/** Tags for the output, without facts about the old audio. */
export interface KeptTag {
  readonly entries: readonly CensusEntry[]
  readonly pieces: readonly BytePiece[]
  readonly levels: readonly LevelField[]
}

/** Relative volume: RVA2 and its forms in ID3v2.2 and 2.3, and ReplayGain's first. */
const LEVELS: ReadonlySet<string> = new Set(['RVA2', 'RVAD', 'RVA', 'XRVA', 'RGAD'])
const INDICES: ReadonlySet<string> = new Set(['MLLT', 'MLL', 'ASPI'])
const TEXTS: ReadonlySet<string> = new Set(['TXXX', 'TXX'])
const COMMENTS: ReadonlySet<string> = new Set(['COMM', 'COM'])
/** Flags of a tag whose frames are not the bytes of the file: unsynchronised, extended header, footer. */
const NOT_PLAIN = 0xd0

/** A name, an end of text, and two times stand before the offsets of a chapter, each of four bytes. */
const TIMES_BYTES = 8
const OFFSETS_BYTES = 8

/** The number that stands for no offset (ID3v2 Chapter Frame Addendum, section 3.1). */
const NO_OFFSETS: Buffer = Buffer.alloc(OFFSETS_BYTES, 0xff)

/**
 * Decides the fate of a tag. Removes indices into the old audio and its signature, and a level that cannot be renewed.
 * Padding at the tag's end takes their place. Byte offsets of chapters become unused; their times stay.
 *
 * @param tag all of its bytes
 * @param start of the tag in the file
 */
export function keepId3(tag: Buffer, start: number): KeptTag {
  const range = (at: number, length: number): BytePiece => ({ kind: 'input', start: start + at, length })
  const frames = id3FramesOf(tag)?.map(({ id, body, start: at, length }) => {
    const { name, value } = textOf(id, body)
    const level = levelOf(id, name, id === 'RVA2' ? body : value, { tag, at, length, start })
    const path = `ID3v2/${id}${name === '' ? '' : `:${name}`}`
    // New bytes in a tag without unsynchronisation need no zeros behind them.
    const isChapter = id === 'CHAP' && ((tag[5] ?? 0) & UNSYNCHRONISED) === 0
    const offsets = isChapter ? chapterOffsets(tag.subarray(at, at + length), body) : null
    return { id, path, start: at, length, level, offsets, reason: level ? null : reasonOf(id, name, body) }
  })
  if (frames === undefined) {
    return { entries: [kept('ID3v2', start, tag.length)], pieces: [range(0, tag.length)], levels: [] }
  }
  const first = frames[0]?.start ?? 10
  const end = frames.reduce((last, { start: at, length }) => Math.max(last, at + length), first)
  const taken = frames.reduce((sum, { length, reason }) => sum + (reason === null ? 0 : length), 0)
  const entries = [
    kept('ID3v2', start, first),
    ...frames.map(({ id, path, start: at, length, level, offsets, reason }) => {
      if (level) return rewritten(path, start + at, length, NEW_LEVEL)
      if (offsets !== null) return rewritten(path, start + at, length, 'its byte offsets count bytes of the old sound')
      return reason === null ? kept(`ID3v2/${id}`, start + at, length) : lost(path, start + at, length, reason)
    }),
    kept('ID3v2/padding', start + end, tag.length - end),
  ]
  const pieces = [
    range(0, first),
    ...frames.flatMap(({ start: at, length, offsets, reason }): readonly BytePiece[] => {
      if (reason !== null) return []
      if (offsets === null) return [range(at, length)]
      const rest = offsets + NO_OFFSETS.length
      return [range(at, offsets), newBytes(NO_OFFSETS), range(at + rest, length - rest)]
    }),
    range(end, tag.length - end),
    newBytes(Buffer.alloc(taken)),
  ]
  const levels = frames.flatMap(({ level }) => level ?? [])
  return { entries: entries.filter(({ length }) => length > 0), pieces, levels }
}

/** The value of a frame that can be renewed in the tag's own bytes. @param value without unsynchronisation */
function levelOf(
  id: string,
  name: string,
  value: Buffer,
  frame: { readonly tag: Buffer; readonly at: number; readonly length: number; readonly start: number },
): LevelField | null {
  const { tag, at, length, start } = frame
  const found = tag.subarray(at, at + length).lastIndexOf(value)
  if (value.length === 0 || found < 0) return null
  if (id !== 'RVA2') return levelField(name, value, start + at + found)
  // New numbers might need such zeros; letters never do.
  const isPlain = ((tag[5] ?? 0) & UNSYNCHRONISED) === 0
  return isPlain ? relativeVolumeField(value, start + at + found) : null
}

/** The frames of a tag besides a manifest of Content Credentials; null if it cannot be parsed. @param tag whole */
export function id3Frames(tag: Buffer): readonly { readonly id: string; readonly body: Buffer }[] | null {
  const version = tag[3] ?? 0
  if ((version !== 3 && version !== 4) || ((tag[5] ?? 0) & NOT_PLAIN) !== 0) return null
  const frames = id3FramesOf(tag)?.map(({ id, start, length }) => ({
    id,
    body: tag.subarray(start + 10, start + length),
  }))
  return frames?.filter(({ id, body }) => !isManifest(id, body)) ?? null
}

function reasonOf(id: string, name: string, body: Buffer): string | null {
  if (INDICES.has(id)) return 'it is an index into the bytes of the old sound'
  if (LEVELS.has(id)) return staysTrue(id, body) ? null : OLD_LEVEL
  return isManifest(id, body) ? SIGNS_OLD_BYTES : staleReason(name)
}

/** The description of a free text or a comment, by its encoding, and the text; empty for all else. */
function textOf(id: string, body: Buffer): { readonly name: string; readonly value: Buffer } {
  const isComment = COMMENTS.has(id)
  if (!isComment && !TEXTS.has(id)) return { name: '', value: Buffer.alloc(0) }
  const text = body.subarray(isComment ? 4 : 1)
  const isWide = body[0] === 1 || body[0] === 2
  const end = isWide ? wideEnd(text) : text.indexOf(0)
  const [name, value] =
    end < 0 ? [text, Buffer.alloc(0)] : [text.subarray(0, end), text.subarray(end + (isWide ? 2 : 1))]
  if (!isWide) return { name: name.toString(body[0] === 0 ? 'latin1' : 'utf8'), value }
  const isBigEndian = body[0] === 2 || (text[0] === 0xfe && text[1] === 0xff)
  const even = Buffer.from(name.subarray(0, name.length & ~1))
  return { name: (isBigEndian ? even.swap16() : even).toString('utf16le').replace(/^\ufeff/, ''), value }
}

/** Place of the zero that ends a text of 16-bit units; -1 without one. */
function wideEnd(text: Buffer): number {
  for (let at = 0; at + 1 < text.length; at += 2) if (text[at] === 0 && text[at + 1] === 0) return at
  return -1
}

/** True for the volume of an album, and for an RVAD whose volumes and peaks are all 0, as iTunes writes it. */
function staysTrue(id: string, body: Buffer): boolean {
  return id === 'RVA2' ? isOfAlbum(body) : id === 'RVAD' && body.subarray(2).every((byte) => byte === 0)
}

function isManifest(id: string, body: Buffer): boolean {
  return (id === 'GEOB' || id === 'GEO') && body.subarray(0, 64).includes('c2pa')
}

/**
 * The place of the byte offsets in a frame `CHAP`, which count bytes of the old sound. Null if it states none, or if its
 * bytes are not those of the file.
 *
 * @param frame its bytes in the file
 * @param body its content
 */
function chapterOffsets(frame: Buffer, body: Buffer): number | null {
  const nameEnd = body.indexOf(0)
  const bodyAt = frame.indexOf(body)
  if (nameEnd < 0 || bodyAt < 0) return null
  const at = nameEnd + 1 + TIMES_BYTES
  const offsets = body.subarray(at, at + OFFSETS_BYTES)
  // Some programs write zeros instead.
  const isUnused = offsets.equals(NO_OFFSETS) || offsets.every((byte) => byte === 0)
  return offsets.length < OFFSETS_BYTES || isUnused ? null : bodyAt + at
}
