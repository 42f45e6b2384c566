/** A box in bytes that were read. */
export interface ChildBox {
  readonly type: string
  readonly startAt: number
  readonly bodyAt: number
  readonly endAt: number
}

/** The boxes between two places of bytes that were read. Those of an index are never so long that they need 64 bits. */
export function* childrenIn(bytes: Buffer, bodyAt: number, endAt: number): Generator<ChildBox> {
  for (let at = bodyAt; at + 8 <= endAt; ) {
    const length = bytes.readUInt32BE(at)
    if (length < 8 || at + length > endAt) return
    yield { type: bytes.toString('latin1', at + 4, at + 8), startAt: at, bodyAt: at + 8, endAt: at + length }
    at += length
  }
}
