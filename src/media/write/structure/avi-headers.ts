import { MalformedFile } from '../../probe/malformed-file.js'
/** A chunk or list of the headers of an AVI. Offsets in the file. */
export interface HeaderPart {
  /** Id of a chunk, type of a list: `strh`, `strl`. */
  readonly id: string
  readonly start: number
  /** First byte behind the id and the size, and the type of a list. */
  readonly bodyStart: number
  /** First byte behind it, padding included. */
  readonly end: number
  readonly body: Buffer
  /** Null for a chunk. */
  readonly children: readonly HeaderPart[] | null
}

/** The lists of all streams and of one stream, and that of OpenDML. */
const DEEPEST = 3

/** Parses the list of headers. @param start of its bytes in the file @throws MalformedFile if a chunk exceeds its list */
export function parseHeaders(bytes: Buffer, start: number): HeaderPart {
  return partAt(bytes, 0, { start, end: bytes.length, depth: 0 })
}

/** The parts of a list with an id. */
export function partsOf({ children }: HeaderPart, id: string): readonly HeaderPart[] {
  return (children ?? []).filter((part) => part.id === id)
}

function partAt(
  bytes: Buffer,
  at: number,
  { start, end, depth }: { readonly start: number; readonly end: number; readonly depth: number },
): HeaderPart {
  const [id, length] = [bytes.toString('latin1', at, at + 4), bytes.readUInt32LE(at + 4)]
  const bodyEnd = at + 8 + length
  if (bodyEnd > end || depth > DEEPEST) throw new MalformedFile(`its header ${id} at byte ${start + at} does not fit`)
  const isList = id === 'LIST' && length >= 4
  const bodyAt = at + (isList ? 12 : 8)
  // Some lists do not count the padding of their last chunk, which then is their own.
  const partEnd = Math.min(end, bodyEnd + (length % 2))
  const children: HeaderPart[] = []
  for (let next = bodyAt; isList && next + 8 <= bodyEnd; ) {
    const child = partAt(bytes, next, { start, end: partEnd, depth: depth + 1 })
    children.push(child)
    next = child.end - start
  }
  return {
    id: isList ? bytes.toString('latin1', at + 8, at + 12) : id,
    ...{ start: start + at, bodyStart: start + bodyAt, end: start + partEnd },
    body: bytes.subarray(bodyAt, bodyEnd),
    children: isList ? children : null,
  }
}
