import { type BytePiece, newBytes } from '../byte-plan.js'
import { kept, lost, rewritten } from '../census.js'
import { levelField, NEW_LEVEL } from '../level/level-field.js'
import { staleReason } from '../stale-facts.js'
import type { KeptTag } from './id3-frames.js'

/** Bytes of a header and of a footer. */
const EDGE_BYTES = 32
const SIZE_AT = 12
const COUNT_AT = 16
const EDGE_NAME = 'APETAGEX'

interface Item {
  readonly name: string
  /** From the first byte of the tag. */
  readonly start: number
  readonly length: number
  readonly valueAt: number
}

/**
 * Decides the fate of an APE tag (APEv2). Items about the level of the old sound are renewed, or left out: the steps to undo
 * mp3gain would change new sound.
 *
 * @param tag all of its bytes
 * @param start of the tag in the file
 */
export function keepApe(tag: Buffer, start: number): KeptTag {
  const hasHeader = tag.toString('latin1', 0, EDGE_NAME.length) === EDGE_NAME && tag.length >= 2 * EDGE_BYTES
  const first = hasHeader ? EDGE_BYTES : 0
  const footer = tag.length - EDGE_BYTES
  const items = itemsOf(tag, first, footer).map((item) => {
    const { name, start: at, length, valueAt } = item
    const level = levelField(name, tag.subarray(valueAt, at + length), start + valueAt)
    return { ...item, level, reason: level ? null : staleReason(name) }
  })
  const stale = items.filter(({ reason }) => reason !== null)
  const levels = items.flatMap(({ level }) => level ?? [])
  const range = (at: number, length: number): BytePiece => ({ kind: 'input', start: start + at, length })
  if (stale.length + levels.length === 0) {
    return { entries: [kept('APE', start, tag.length)], pieces: [range(0, tag.length)], levels }
  }
  const taken = stale.reduce((sum, { length }) => sum + length, 0)
  const edge = (at: number): BytePiece => {
    const bytes = Buffer.from(tag.subarray(at, at + EDGE_BYTES))
    bytes.writeUInt32LE(bytes.readUInt32LE(SIZE_AT) - taken, SIZE_AT)
    bytes.writeUInt32LE(bytes.readUInt32LE(COUNT_AT) - stale.length, COUNT_AT)
    return newBytes(bytes)
  }
  const entries = [
    rewritten('APE', start, first, 'size and number of its items'),
    ...items.map(({ name, start: at, length, level, reason }) => {
      const path = `APE/item:${name}`
      if (level) return rewritten(path, start + at, length, NEW_LEVEL)
      return reason === null ? kept(path, start + at, length) : lost(path, start + at, length, reason)
    }),
    rewritten('APE', start + footer, EDGE_BYTES, 'size and number of its items'),
  ]
  return {
    entries: entries.filter(({ length }) => length > 0),
    pieces: [
      ...(hasHeader ? [edge(0)] : []),
      ...items.flatMap((item) => (stale.includes(item) ? [] : [range(item.start, item.length)])),
      edge(footer),
    ],
    levels,
  }
}

/** The items between two offsets; none if they do not fill the space. */
function itemsOf(tag: Buffer, first: number, end: number): readonly Item[] {
  const items: Item[] = []
  let at = first
  while (at + 8 < end) {
    const nameEnd = tag.indexOf(0, at + 8)
    const next = nameEnd + 1 + tag.readUInt32LE(at)
    if (nameEnd < 0 || next > end) return []
    items.push({ name: tag.toString('latin1', at + 8, nameEnd), start: at, length: next - at, valueAt: nameEnd + 1 })
    at = next
  }
  return at === end ? items : []
}
