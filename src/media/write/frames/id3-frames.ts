import type { BytePiece } from '../byte-plan.js'
import { type CensusEntry, kept, lost, SIGNS_OLD_BYTES } from '../census.js'
import { OLD_LEVEL, staleReason } from '../stale-facts.js'
import { id3FramesOf } from './id3-parse.js'

/** A tag for the output: the same length, without facts about the old audio. */
export interface KeptTag {
  readonly entries: readonly CensusEntry[]
  readonly pieces: readonly BytePiece[]
}

/** Relative volume: RVA2 and its forms in ID3v2.2 and 2.3, and ReplayGain's first. */
const LEVELS: ReadonlySet<string> = new Set(['RVA2', 'RVAD', 'RVA', 'XRVA', 'RGAD'])
const INDICES: ReadonlySet<string> = new Set(['MLLT', 'MLL', 'ASPI'])
const TEXTS: ReadonlySet<string> = new Set(['TXXX', 'TXX'])
const COMMENTS: ReadonlySet<string> = new Set(['COMM', 'COM'])
/** Flags of a tag whose frames are not the bytes of the file: unsynchronised, extended header, footer. */
const NOT_PLAIN = 0xd0

/**
 * Decides the fate of a tag. Removes indices into the old audio, its level and its signature, with padding at
 * the tag's end instead.
 *
 * @param tag all of its bytes
 * @param start of the tag in the file
 */
export function keepId3(tag: Buffer, start: number): KeptTag {
  const range = (at: number, length: number): BytePiece => ({ kind: 'input', start: start + at, length })
  const frames = id3FramesOf(tag)?.map(({ id, body, ...place }) => {
    const name = descriptionOf(id, body)
    return { id, name, ...place, reason: reasonOf(id, name, body) }
  })
  if (frames === undefined) return { entries: [kept('ID3v2', start, tag.length)], pieces: [range(0, tag.length)] }
  const first = frames[0]?.start ?? 10
  const end = frames.reduce((last, { start: at, length }) => Math.max(last, at + length), first)
  const taken = frames.reduce((sum, { length, reason }) => sum + (reason === null ? 0 : length), 0)
  const entries = [
    kept('ID3v2', start, first),
    ...frames.map(({ id, name, start: at, length, reason }) =>
      reason === null
        ? kept(`ID3v2/${id}`, start + at, length)
        : lost(`ID3v2/${id}${name === '' ? '' : `:${name}`}`, start + at, length, reason),
    ),
    kept('ID3v2/padding', start + end, tag.length - end),
  ]
  const pieces = [
    range(0, first),
    ...frames.flatMap(({ start: at, length, reason }) => (reason === null ? [range(at, length)] : [])),
    range(end, tag.length - end),
    { kind: 'bytes', bytes: Buffer.alloc(taken) } as const,
  ]
  return { entries: entries.filter(({ length }) => length > 0), pieces }
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
  if (LEVELS.has(id)) return OLD_LEVEL
  return isManifest(id, body) ? SIGNS_OLD_BYTES : staleReason(name)
}

/** The description of a free text or a comment, by its encoding; empty for all else. */
function descriptionOf(id: string, body: Buffer): string {
  const isComment = COMMENTS.has(id)
  if (!isComment && !TEXTS.has(id)) return ''
  const text = body.subarray(isComment ? 4 : 1)
  const isWide = body[0] === 1 || body[0] === 2
  if (!isWide) return text.toString(body[0] === 0 ? 'latin1' : 'utf8').split('\0', 1)[0] ?? ''
  const isBigEndian = body[0] === 2 || (text[0] === 0xfe && text[1] === 0xff)
  const even = Buffer.from(text.subarray(0, text.length & ~1))
  return (
    (isBigEndian ? even.swap16() : even)
      .toString('utf16le')
      .replace(/^\ufeff/, '')
      .split('\0', 1)[0] ?? ''
  )
}

function isManifest(id: string, body: Buffer): boolean {
  return (id === 'GEOB' || id === 'GEO') && body.subarray(0, 64).includes('c2pa')
}
