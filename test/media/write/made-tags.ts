/** A frame of ID3v2.3. */
export function id3Frame(id: string, body: Buffer): Buffer {
  const head = Buffer.alloc(10)
  head.write(id, 'latin1')
  head.writeUInt32BE(body.length, 4)
  return Buffer.concat([head, body])
}

/** A tag of ID3v2.3. */
export function id3(...frames: readonly Buffer[]): Buffer {
  const body = Buffer.concat(frames)
  const head = Buffer.from('ID3\x03\0\0\0\0\0\0', 'latin1')
  for (let at = 0; at < 4; at++) head[6 + at] = (body.length >> (7 * (3 - at))) & 0x7f
  return Buffer.concat([head, body])
}

/** An APE tag with a header. */
export function ape(items: Readonly<Record<string, string>>): Buffer {
  const body = Buffer.concat(
    Object.entries(items).map(([name, value]) => {
      const head = Buffer.alloc(8)
      head.writeUInt32LE(Buffer.byteLength(value))
      return Buffer.concat([head, Buffer.from(`${name}\0${value}`)])
    }),
  )
  const edge = (flags: number) => {
    const bytes = Buffer.alloc(32)
    bytes.write('APETAGEX', 'latin1')
    bytes.writeUInt32LE(2000, 8)
    bytes.writeUInt32LE(body.length + 32, 12)
    bytes.writeUInt32LE(Object.keys(items).length, 16)
    bytes.writeUInt32LE(flags, 20)
    return bytes
  }
  return Buffer.concat([edge(0xa000_0000), body, edge(0x8000_0000)])
}

/** A WAV or AIFF with another chunk at its end. */
export function withChunk(file: Buffer, id: string, body: Buffer): Buffer {
  const name = file.toString('latin1', 0, 4) === 'RIFF' ? 'writeUInt32LE' : 'writeUInt32BE'
  const head = Buffer.alloc(8)
  head.write(id, 'latin1')
  head[name](body.length, 4)
  const made = Buffer.concat([file, head, body, Buffer.alloc(body.length % 2)])
  made[name](made.length - 8, 4)
  return made
}
