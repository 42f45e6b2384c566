import { uint32BE } from '../../src/media/number-bytes.js'
import { unlessMalformed } from '../../src/media/probe/malformed-file.js'
import { type Box, bodyOf, childBoxes, endOf, makeBox } from '../../src/media/probe/movie/box.js'
import { parseBoxes } from '../../src/media/probe/movie/parse-boxes.js'
import { type AdtsFormat, brokenSegment, type SegmentFormat, withHeader, withoutHeader } from './audio-frames.js'

const BASE_DATA_OFFSET = 0x1
const TRACK_DEFAULT_SIZE = 0x10
const DATA_OFFSET = 0x1
const FIRST_SAMPLE_FLAGS = 0x4
const SAMPLE_DURATION = 0x100
const SAMPLE_SIZE = 0x200
const SAMPLE_FLAGS = 0x400
const SAMPLE_TIME_OFFSET = 0x800

/** One run of samples: what of each there is besides its size, and where their bytes lie. */
interface SampleRun {
  readonly versionAndFlags: number
  /** The first sample's own flags, if the run has any. */
  readonly first: Buffer
  /** For each sample what stands before and behind its size. */
  readonly rows: readonly { readonly before: Buffer; readonly after: Buffer }[]
  readonly samples: readonly Buffer[]
}

interface Fragment {
  readonly moof: Box
  readonly mdat: Box
  readonly parts: readonly (Box | SampleRun)[]
  readonly traf: Box
}

/** Sound in fragments of an MP4, one track. A segment whose frames keep their sizes comes out bit for bit. */
export class FragmentFormat implements SegmentFormat {
  readonly #format: AdtsFormat
  readonly #name: string

  constructor(format: AdtsFormat, name: string) {
    this.#format = format
    this.#name = name
  }

  framesOf(segment: Buffer): readonly Buffer[] {
    return this.#fragments(segment, this.#boxes(segment)).flatMap(({ parts }) =>
      parts.flatMap((part) => ('rows' in part ? part.samples.map((sample) => withHeader(sample, this.#format)) : [])),
    )
  }

  withFrames(segment: Buffer, frames: readonly Buffer[]): Buffer {
    const samples = frames.map(withoutHeader)
    const boxes = this.#boxes(segment)
    const fragments = this.#fragments(segment, boxes)
    const edges = new Map<number, number>([[0, 0]])
    const pieces: Buffer[] = []
    let length = 0
    for (const box of boxes) {
      const fragment = fragments.find(({ moof, mdat }) => moof === box || mdat === box)
      const piece = fragment ? writeHalf(fragment, box, samples) : (box.bytes ?? EMPTY)
      pieces.push(piece)
      length += piece.length
      edges.set(endOf(box), length)
    }
    return withIndex(Buffer.concat(pieces), boxes, edges)
  }

  #boxes(segment: Buffer): readonly Box[] {
    const boxes = unlessMalformed(() => parseBoxes(segment, 0, ''), [])
    const last = boxes.at(-1)
    if ((last ? endOf(last) : 0) < segment.length) throw brokenSegment(this.#name, 'is cut off within a box')
    return boxes
  }

  #fragments(segment: Buffer, boxes: readonly Box[]): readonly Fragment[] {
    return boxes.flatMap((moof, place) => {
      if (moof.type !== 'moof') return []
      const mdat = boxes.slice(place).find(({ type }) => type === 'mdat')
      if (mdat === undefined) throw brokenSegment(this.#name, 'has a fragment without its media')
      return [this.#fragment(segment, moof, mdat)]
    })
  }

  #fragment(segment: Buffer, moof: Box, mdat: Box): Fragment {
    const [traf, ...others] = childBoxes(moof, 'traf')
    const [header] = childBoxes(traf, 'tfhd')
    if (!traf || !header || others.length > 0) throw brokenSegment(this.#name, 'holds more than one track')
    if (traf.children.some(({ type }) => type === 'senc' || type === 'saiz'))
      throw brokenSegment(this.#name, 'is encrypted')
    const fields = bodyOf(header)
    const flags = fields.readUInt32BE(0) & 0xffffff
    if (flags & BASE_DATA_OFFSET)
      throw brokenSegment(this.#name, 'counts from the beginning of a file that is not there')
    const defaultSize = defaultSizeOf(fields, flags)
    let at = mdat.start + mdat.headerBytes
    const parts = traf.children.map((box): Box | SampleRun => {
      if (box.type !== 'trun') return box
      const run = this.#run(segment, bodyOf(box), { moof, at, defaultSize })
      at = run.end
      if (at > endOf(mdat)) throw brokenSegment(this.#name, 'says that it holds more than it does')
      return run.run
    })
    return { moof, mdat, parts, traf }
  }

  #run(segment: Buffer, body: Buffer, base: { moof: Box; at: number; defaultSize: number | null }) {
    const versionAndFlags = body.readUInt32BE(0)
    const has = (flag: number) => (versionAndFlags & flag) !== 0
    const count = body.readUInt32BE(4)
    let at = 8
    const start = has(DATA_OFFSET) ? base.moof.start + body.readInt32BE(at) : base.at
    if (has(DATA_OFFSET)) at += 4
    const first = body.subarray(at, has(FIRST_SAMPLE_FLAGS) ? at + 4 : at)
    at += first.length
    const beforeBytes = has(SAMPLE_DURATION) ? 4 : 0
    const sizeBytes = has(SAMPLE_SIZE) ? 4 : 0
    const afterBytes = (has(SAMPLE_FLAGS) ? 4 : 0) + (has(SAMPLE_TIME_OFFSET) ? 4 : 0)
    if (at + count * (beforeBytes + sizeBytes + afterBytes) > body.length)
      throw brokenSegment(this.#name, 'has a table that is cut off')
    if (sizeBytes === 0 && base.defaultSize === null)
      throw brokenSegment(this.#name, 'does not say how long its frames are')
    const rows = []
    const samples = []
    let end = start
    for (let place = 0; place < count; place++) {
      const before = body.subarray(at, at + beforeBytes)
      const size = sizeBytes ? body.readUInt32BE(at + beforeBytes) : (base.defaultSize as number)
      at += beforeBytes + sizeBytes
      rows.push({ before, after: body.subarray(at, at + afterBytes) })
      at += afterBytes
      samples.push(segment.subarray(end, end + size))
      end += size
    }
    return { run: { versionAndFlags, first, rows, samples }, end }
  }
}

const EMPTY = Buffer.alloc(0)

/** Takes the samples of a fragment off the front of those that are left, and writes its `moof`, then its `mdat`. */
function writeHalf(fragment: Fragment, box: Box, left: Buffer[]): Buffer {
  const runs = fragment.parts.filter((part) => 'rows' in part)
  const count = runs.reduce((sum, { rows }) => sum + rows.length, 0)
  if (box === fragment.mdat) return makeBox('mdat', Buffer.concat(left.splice(0, count)))
  const samples = left.slice(0, count)
  // The offsets count from the beginning of the box whose length they do not change.
  const { length } = moofOf(fragment, samples, 0)
  return moofOf(fragment, samples, length + 8)
}

function moofOf({ moof, traf, parts }: Fragment, samples: readonly Buffer[], mediaStart: number): Buffer {
  let [place, offset] = [0, mediaStart]
  const content = parts.map((part) => {
    if (!('rows' in part)) return part.bytes ?? EMPTY
    const own = samples.slice(place, place + part.rows.length)
    const box = trunOf(part, own, offset)
    place += own.length
    offset += own.reduce((sum, { length }) => sum + length, 0)
    return box
  })
  const inside = moof.children.map((child) =>
    child === traf ? makeBox('traf', Buffer.concat(content)) : (child.bytes ?? EMPTY),
  )
  return makeBox('moof', Buffer.concat(inside))
}

function trunOf({ versionAndFlags, first, rows }: SampleRun, samples: readonly Buffer[], offset: number): Buffer {
  const head = uint32BE((versionAndFlags | DATA_OFFSET | SAMPLE_SIZE) >>> 0, rows.length, offset >>> 0)
  const table = rows.flatMap(({ before, after }, place) => [before, uint32BE(samples[place]?.length ?? 0), after])
  return makeBox('trun', Buffer.concat([head, first, ...table]))
}

/** Writes the new sizes into the segment's own index (`sidx`); an index that cannot be corrected becomes free space. */
function withIndex(written: Buffer, boxes: readonly Box[], edges: ReadonlyMap<number, number>): Buffer {
  for (const index of boxes.filter(({ type }) => type === 'sidx')) {
    const start = edges.get(index.start) ?? 0
    const body = bodyOf(index)
    const at = body[0] === 0 ? 20 : 28
    const firstOffset = body[0] === 0 ? body.readUInt32BE(at - 4) : Number(body.readBigUInt64BE(at - 8))
    let old = endOf(index) + firstOffset
    for (let place = 0; place < body.readUInt16BE(at + 2); place++) {
      const row = at + 4 + place * 12
      const reference = body.readUInt32BE(row)
      const next = old + (reference & 0x7fffffff)
      const [from, to] = [edges.get(old), edges.get(next)]
      if (from === undefined || to === undefined) {
        written.write('free', start + 4, 'latin1')
        break
      }
      written.writeUInt32BE(((reference & 0x80000000) | (to - from)) >>> 0, start + index.headerBytes + row)
      old = next
    }
  }
  return written
}

/** @param fields of `tfhd`: track id, then the optional ones in the order of their flags */
function defaultSizeOf(fields: Buffer, flags: number): number | null {
  if (!(flags & TRACK_DEFAULT_SIZE)) return null
  return fields.readUInt32BE(8 + (flags & 0x2 ? 4 : 0) + (flags & 0x8 ? 4 : 0))
}
