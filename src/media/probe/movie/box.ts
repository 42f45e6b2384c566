import { uint32BE } from '../../number-bytes.js'
/** A box of a file of the ISO base media or QuickTime family. */
export interface Box {
  /** Four characters, read as Latin-1. */
  readonly type: string
  /** Extended type of a `uuid` box as 32 hex digits; null for other boxes. */
  readonly extendedType: string | null
  /** First byte of its header in the file. */
  readonly start: number
  /** Bytes of the whole box with its header. */
  readonly length: number
  /** 8, or 16 with a 64-bit size. */
  readonly headerBytes: number
  /** True if the box reaches to the end of the file: its size field is 0. */
  readonly isOpenEnded: boolean
  /** The whole box; null if it stays on disk (`mdat`, `free` and everything that voxmux does not need). */
  readonly bytes: Buffer | null
  /** Fields between the header and the first child. */
  readonly prefixBytes: number
  /** Children, if voxmux parses the box. They begin after the prefix and leave no gap. */
  readonly children: readonly Box[]
}

/** Boxes that a file consists of, as the standards name them, without padding. Vendors write others of their own. */
const FILE_BOXES: ReadonlySet<string> = new Set([
  ...['ftyp', 'styp', 'moov', 'moof', 'mfra', 'mdat', 'imda', 'meta', 'uuid'],
  ...['sidx', 'ssix', 'emsg', 'prft', 'pdin', 'udta', 'pnot', 'PICT'],
])

/**
 * True if a box that states more bytes than the file has is the cut end of a movie. Any other four characters in the
 * place of a type begin a trailer. Dashcams, ID3v1 and ExifTool append such bytes, and players pass them over.
 * They also pass over padding, of which a recorder may reserve more than it could write.
 */
export function isCutEnd(type: string): boolean {
  return FILE_BOXES.has(type)
}

/** First byte after a box. */
export function endOf(box: Box): number {
  return box.start + box.length
}

/** Content of a box without its header; empty if it was not read. */
export function bodyOf(box: Box | undefined): Buffer {
  return box?.bytes?.subarray(box.headerBytes) ?? Buffer.alloc(0)
}

/** The first child of each type on the way down. */
export function childAt(box: Box | undefined, ...path: readonly string[]): Box | undefined {
  return path.reduce<Box | undefined>((parent, type) => parent?.children.find((child) => child.type === type), box)
}

/** Every child of a type. */
export function childBoxes(box: Box | undefined, type: string): readonly Box[] {
  return box?.children.filter((child) => child.type === type) ?? []
}

/** A box and everything below it, parents first. */
export function* withDescendants(box: Box): Generator<Box> {
  yield box
  for (const child of box.children) yield* withDescendants(child)
}

/** A box of new bytes. */
export function makeBox(type: string, body: Uint8Array): Buffer {
  return Buffer.concat([uint32BE(8 + body.length), Buffer.from(type, 'latin1'), body])
}

/** A box of new bytes that begins with a version and flags. */
export function makeFullBox(type: string, version: number, flags: number, fields: Uint8Array): Buffer {
  return makeBox(type, Buffer.concat([uint32BE(((version << 24) | flags) >>> 0), fields]))
}

/** Header of a box whose length changed, in the form of the old header. @param bodyBytes length of the new content */
export function resizedHeader(box: Pick<Box, 'type' | 'headerBytes' | 'isOpenEnded'>, bodyBytes: number): Buffer {
  const isLong = box.headerBytes === 16 || (!box.isOpenEnded && bodyBytes + 8 > 0xffff_ffff)
  const header = Buffer.alloc(isLong ? 16 : 8)
  header.write(box.type, 4, 'latin1')
  if (isLong) {
    header.writeUInt32BE(1, 0)
    header.writeBigUInt64BE(BigInt(16 + bodyBytes), 8)
  } else if (!box.isOpenEnded) header.writeUInt32BE(8 + bodyBytes, 0)
  return header
}
