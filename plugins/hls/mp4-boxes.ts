import { parseHeader } from '../../src/media/probe/movie/parse-boxes.js'

/** A box of an MP4: its type and where it lies in the buffer it was read from. */
export interface BoxSpan {
  readonly type: string
  readonly start: number
  readonly content: number
  readonly end: number
}

/** The boxes that follow one another in a part of a buffer. @returns null if the part is not made of whole boxes */
export function boxesIn(bytes: Buffer, start = 0, end = bytes.length): readonly BoxSpan[] | null {
  const boxes: BoxSpan[] = []
  let at = start
  while (at < end) {
    const box = boxAt(bytes, at, end)
    if (box === null) return null
    boxes.push(box)
    at = box.end
  }
  return boxes
}

/** The boxes on a way into the tree (`moov`, `trak`, …), every branch of it. */
export function descend(bytes: Buffer, path: readonly string[]): readonly BoxSpan[] {
  let level: readonly BoxSpan[] = (boxesIn(bytes) ?? []).filter(({ type }) => type === path[0])
  for (const type of path.slice(1)) {
    level = level.flatMap((box) => boxesIn(bytes, box.content, box.end) ?? []).filter((box) => box.type === type)
  }
  return level
}

function boxAt(bytes: Buffer, start: number, limit: number): BoxSpan | null {
  const header = parseHeader(bytes.subarray(start, limit))
  if (header === null) return null
  const { type, headerBytes, length } = header
  const [content, end] = [start + headerBytes, start + (length ?? limit - start)]
  return end < content || end > limit ? null : { type, start, content, end }
}
