/** A box as this reader sees it. It shares no code with the writer. */
export interface TreeBox {
  /** Types from the outside in, each with its place among its siblings: `moov/trak#1/tkhd`. */
  readonly path: string
  readonly start: number
  readonly size: number
  readonly header: number
  readonly parent: TreeBox | null
}

const HOLD_BOXES =
  /^(moov|trak|edts|mdia|minf|dinf|stbl|mvex|moof|traf|mfra|udta|meta|ilst|----|tref|tapt|gmhd|xx[a-z]{2})$/

/** Lists every box of a file, parents before their children. */
export function boxTree(file: Buffer): readonly TreeBox[] {
  const found: TreeBox[] = []
  walk(file, 0, file.length, null, found)
  return found
}

function walk(file: Buffer, from: number, to: number, parent: TreeBox | null, found: TreeBox[]): void {
  const seen = new Map<string, number>()
  for (let at = from; at + 8 <= to; ) {
    const type = file.toString('latin1', at + 4, at + 8)
    const short = file.readUInt32BE(at)
    const header = short === 1 ? 16 : 8
    const size = short === 0 ? to - at : short === 1 ? Number(file.readBigUInt64BE(at + 8)) : short
    if (size < header || at + size > to) return
    const place = seen.get(type) ?? 0
    seen.set(type, place + 1)
    const name = place === 0 ? type : `${type}#${place}`
    const box = { path: parent ? `${parent.path}/${name}` : name, start: at, size, header, parent }
    found.push(box)
    const isFull = type === 'meta' && file.toString('latin1', at + header + 4, at + header + 8) !== 'hdlr'
    if (HOLD_BOXES.test(type)) walk(file, at + header + (isFull ? 4 : 0), at + size, box, found)
    at += size
  }
}

/** The bytes of a box, header included. */
export function bytesOfBox(file: Buffer, { start, size }: TreeBox): Buffer {
  return file.subarray(start, start + size)
}

/** Boxes without children, by path. */
export function leaves(file: Buffer): ReadonlyMap<string, Buffer> {
  const tree = boxTree(file)
  const parents = new Set(tree.map(({ parent }) => parent))
  return new Map(tree.filter((box) => !parents.has(box)).map((box) => [box.path, bytesOfBox(file, box)]))
}

/** The samples of a track of a file without fragments, each as its bytes. */
export function trackSamples(file: Buffer, track: number): readonly Buffer[] {
  const stbl = `moov/trak${track === 0 ? '' : `#${track}`}/mdia/minf/stbl`
  const body = (type: string) => {
    const box = boxTree(file).find(({ path }) => path === `${stbl}/${type}`)
    return box && file.subarray(box.start + box.header + 4, box.start + box.size)
  }
  const [layout, short, long] = [body('stsc'), body('stco'), body('co64')]
  const sizes = sizesOf(body('stsz'), body('stz2'))
  if (!sizes || !layout || !(short ?? long)) return []
  const offsets = Array.from({ length: (short ?? long ?? layout).readUInt32BE(0) }, (_, row) =>
    short ? short.readUInt32BE(4 + 4 * row) : Number(long?.readBigUInt64BE(4 + 8 * row)),
  )
  const samples: Buffer[] = []
  for (const [chunk, offset] of offsets.entries()) {
    let at = offset
    for (let left = samplesInChunk(layout, chunk + 1); left > 0; left--) {
      const size = sizes[samples.length] ?? 0
      samples.push(file.subarray(at, at + size))
      at += size
    }
  }
  return samples
}

/** Compact sizes of 8 bits are the only ones that the tests make. */
function sizesOf(table: Buffer | undefined, compact: Buffer | undefined): readonly number[] | undefined {
  if (compact) return [...compact.subarray(8, 8 + compact.readUInt32BE(4))]
  if (!table) return undefined
  return Array.from(
    { length: table.readUInt32BE(4) },
    (_, row) => table.readUInt32BE(0) || table.readUInt32BE(8 + 4 * row),
  )
}

function samplesInChunk(layout: Buffer, chunk: number): number {
  let samples = 0
  for (let row = 0; row < layout.readUInt32BE(0); row++) {
    if (layout.readUInt32BE(4 + 12 * row) <= chunk) samples = layout.readUInt32BE(8 + 12 * row)
  }
  return samples
}
