import type { FileHandle } from 'node:fs/promises'
import { fillFrom } from '../../../../core/read-at.js'
import { MalformedFile } from '../../../probe/malformed-file.js'
import { type Box, isCutEnd } from '../../../probe/movie/box.js'
import { type BoxHeader, extendedTypeOf, parseBoxes, parseHeader } from '../../../probe/movie/parse-boxes.js'
import { type NearReader, nearReader } from '../../../probe/near-reader.js'
import { requireSane } from '../../structure/structure.js'

/** The boxes of a file, in file order. */
export interface BoxStructure {
  readonly sizeBytes: number
  readonly boxes: readonly Box[]
  /** First byte after the last box: the size of the file, unless other bytes follow. */
  readonly boxesEnd: number
}

/** Top-level boxes that are read into memory; everything else stays on disk. */
const READ: ReadonlySet<string> = new Set(['ftyp', 'moov', 'moof', 'mfra', 'meta', 'sidx', 'ssix'])
/** 100 hours of film have an index of about 100 MB. */
const MAX_BOX_BYTES = 256 * 1024 ** 2
/** Enough of an unread box for its header and the extended type of a `uuid`. */
const HEAD_BYTES = 32

interface Source {
  readonly file: FileHandle
  readonly heads: NearReader
}

/** Reads the boxes of a file. @throws MalformedFile if they do not fill it, are too many, or an index is too large */
export async function readStructure(file: FileHandle, sizeBytes: number): Promise<BoxStructure> {
  const boxes: Box[] = []
  const heads = nearReader(file)
  let at = 0
  while (at + 8 <= sizeBytes) {
    const box = await readBox({ file, heads }, at, sizeBytes)
    if (!box) break
    boxes.push(box)
    requireSane(boxes, 'boxes')
    at += box.length
  }
  return { sizeBytes, boxes, boxesEnd: at }
}

/** Undefined if no box begins here, as after the last box of some recorders. */
async function readBox({ file, heads }: Source, start: number, sizeBytes: number): Promise<Box | undefined> {
  const head = await heads(start, Math.min(HEAD_BYTES, sizeBytes - start))
  const header = parseHeader(head)
  const length = header?.length ?? sizeBytes - start
  if (!header || length < header.headerBytes || !/^[\x20-\x7e\xa9]{4}$/.test(header.type)) return undefined
  if (start + length > sizeBytes) {
    if (!isCutEnd(header.type)) return undefined
    throw new MalformedFile(`the file ends inside the box ${header.type} at byte ${start}: it is truncated`)
  }
  if (!READ.has(header.type)) {
    const { type, headerBytes } = header
    return {
      ...{ type, start, length, headerBytes, bytes: null, prefixBytes: 0, children: [] },
      extendedType: extendedTypeOf(header, head),
      isOpenEnded: header.length === null,
    }
  }
  if (length > MAX_BOX_BYTES) throw new MalformedFile(`the box ${header.type} has ${length} bytes`)
  const bytes = await read(file, start, length)
  const [box] = parseBoxes(bytes, start, '')
  return header.type === 'moof' ? new StoredFragment(bytes, start, header) : box
}

/** A `moof`, of which a film can have a hundred thousand. Its boxes would take ten times its bytes: each look parses them. */
class StoredFragment implements Box {
  readonly type = 'moof'
  readonly extendedType = null
  readonly prefixBytes = 0
  readonly bytes: Buffer
  readonly start: number
  readonly headerBytes: number
  readonly isOpenEnded: boolean

  constructor(bytes: Buffer, start: number, { headerBytes, length }: BoxHeader) {
    this.bytes = bytes
    this.start = start
    this.headerBytes = headerBytes
    this.isOpenEnded = length === null
  }

  get length(): number {
    return this.bytes.length
  }

  get children(): readonly Box[] {
    return parseBoxes(this.bytes, this.start, '')[0]?.children ?? []
  }
}

async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  // Short boxes share an allocation: one each would take more than their bytes.
  const buffer = Buffer.allocUnsafe(length)
  const filled = await fillFrom(file, at, buffer)
  if (filled < length) throw new MalformedFile(`the file ends at byte ${at + filled}`)
  return buffer
}
