/** Boxes of QuickTime and mp4 that hold further boxes, on the way to what the tests replace. */
const PARENTS = new Set(['moov', 'trak', 'mdia', 'minf', 'dinf', 'edts'])

/** A box of that type. */
export function box(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + body.length, 0)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, body])
}

/** A movie with every box of a type replaced. Its index must stand behind its data: nothing else moves then. */
export function replaceBoxes(movie: Buffer, type: string, make: (old: Buffer) => Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at + 8 <= movie.length; ) {
    const size = movie.readUInt32BE(at)
    const name = movie.toString('latin1', at + 4, at + 8)
    const whole = movie.subarray(at, at + size)
    if (name === type) parts.push(make(whole))
    else parts.push(PARENTS.has(name) ? box(name, replaceBoxes(whole.subarray(8), type, make)) : whole)
    at += size
  }
  return Buffer.concat(parts)
}
