/** A packet or header of a program stream, with the number that ffprobe gives its stream. */
interface FoundPacket {
  readonly id: number
  readonly start: number
  readonly end: number
  /** First byte of the sound or picture. */
  readonly contentAt: number
}

const [END, PACK, PRIVATE_1, SYSTEM] = [0xb9, 0xba, 0xbd, 0xbb]

/** Reads a program stream with nothing but zeros between its packets; the last one may be cut off. */
export function packetsOf(bytes: Buffer): readonly FoundPacket[] {
  const found: FoundPacket[] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    // Sectors of a VCD are filled up.
    while (bytes[at] === 0 && bytes[at + 1] === 0 && bytes[at + 2] === 0) at++
    if (bytes.readUIntBE(at, 3) !== 1) throw new Error(`no packet at ${at}`)
    const code = bytes[at + 3] as number
    const length = code === END ? 4 : code === PACK ? packBytes(bytes, at) : 6 + bytes.readUInt16BE(at + 4)
    const end = Math.min(bytes.length, at + length)
    const head = code <= SYSTEM || code === 0xbe || code === 0xbf ? 0 : headBytes(bytes, at)
    const isPrivate = code === PRIVATE_1
    const id = isPrivate ? (bytes[at + head] as number) : 0x100 + code
    found.push({ id, start: at, end, contentAt: at + head + (isPrivate ? 4 : 0) })
    at = end
  }
  return found
}

function packBytes(bytes: Buffer, at: number): number {
  return (bytes[at + 4] as number) >> 4 === 2 ? 12 : 14 + ((bytes[at + 13] as number) & 7)
}

function headBytes(bytes: Buffer, start: number): number {
  if ((bytes[start + 6] as number) >> 6 === 2) return 9 + (bytes[start + 8] as number)
  let at = start + 6
  while (bytes[at] === 0xff) at++
  if ((bytes[at] as number) >> 6 === 1) at += 2
  return at - start + ([1, 1, 5, 10][(bytes[at] as number) >> 4] ?? 1)
}

/** Numbers of the streams with other content. @throws for any other difference */
export function changedPackets(before: Buffer, after: Buffer): readonly number[] {
  if (after.length !== before.length) throw new Error(`${after.length} bytes instead of ${before.length}`)
  const changed = new Set<number>()
  let at = 0
  for (const { id, end, contentAt } of packetsOf(before)) {
    if (!before.subarray(at, contentAt).equals(after.subarray(at, contentAt))) throw new Error(`changed head at ${at}`)
    if (!before.subarray(contentAt, end).equals(after.subarray(contentAt, end))) changed.add(id)
    at = end
  }
  return [...changed]
}
