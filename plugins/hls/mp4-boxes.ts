/** A box of an MP4: its type and where it lies in the buffer it was read from. */
export interface Box {
  readonly type: string
  readonly start: number
  readonly content: number
  readonly end: number
}

/** The boxes that follow one another in a part of a buffer. @returns null if the part is not made of whole boxes */
export function boxesIn(bytes: Buffer, start = 0, end = bytes.length): readonly Box[] | null {
  const boxes: Box[] = []
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
export function descend(bytes: Buffer, path: readonly string[]): readonly Box[] {
  let level: readonly Box[] = (boxesIn(bytes) ?? []).filter(({ type }) => type === path[0])
  for (const type of path.slice(1)) {
    level = level.flatMap((box) => boxesIn(bytes, box.content, box.end) ?? []).filter((box) => box.type === type)
  }
  return level
}

/** A box of a type around some content. */
export function makeBox(type: string, ...content: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt32BE(content.reduce((sum, { length }) => sum + length, 8))
  header.write(type, 4, 'latin1')
  return Buffer.concat([header, ...content])
}

function boxAt(bytes: Buffer, start: number, limit: number): Box | null {
  if (start + 8 > limit) return null
  const size = bytes.readUInt32BE(start)
  const type = bytes.toString('latin1', start + 4, start + 8)
  if (size === 0) return { type, start, content: start + 8, end: limit }
  if (size !== 1)
    return size < 8 || start + size > limit ? null : { type, start, content: start + 8, end: start + size }
  if (start + 16 > limit) return null
  const end = start + Number(bytes.readBigUInt64BE(start + 8))
  return end < start + 16 || end > limit ? null : { type, start, content: start + 16, end }
}
