import { MAX_STRUCTURES } from '../structure/structure.js'

/** A frame of an ID3v2 tag. Offsets from the tag's first byte. */
interface Id3Frame {
  readonly id: string
  readonly start: number
  /** With its header. */
  readonly length: number
  /** Without what was inserted for unsynchronisation, and without what precedes the content. */
  readonly body: Buffer
}

/** The facts in the header of a tag that decide how its frames are read. */
interface TagForm {
  readonly version: number
  readonly isUnsynchronised: boolean
}

/** Flag of a tag with a zero behind each byte that a player might take for the start of a frame of sound. */
export const UNSYNCHRONISED = 0x80
/** In version 2.2, compression. */
const EXTENDED = 0x40
const FOOTER = 0x10
/** Flags of the extended header that announce a checksum of the frames. */
const CRC_23 = 0x80
const CRC_24 = 0x20

/**
 * The frames of a tag; null if it cannot be parsed, or if a checksum or a footer forbids changes.
 *
 * @param tag all of its bytes
 */
export function id3FramesOf(tag: Buffer): readonly Id3Frame[] | null {
  const [version = 0, , flags = 0] = tag.subarray(3, 6)
  if (version < 2 || version > 4 || (flags & FOOTER) !== 0) return null
  const isUnsynchronised = (flags & UNSYNCHRONISED) !== 0
  const form = { version, isUnsynchronised }
  // Only in 2.4, frames state the bytes that they take in the file.
  const isPacked = version < 4 && isUnsynchronised
  const plain = isPacked ? Buffer.from(tag.filter((_, at) => !isInserted(tag, at))) : tag
  const first = (flags & EXTENDED) === 0 ? 10 : afterExtended(plain, version)
  if (first === null) return null
  // iTunes wrote sizes of 2.3 into tags of 2.4.
  const synchsafe = version === 4 ? listFrames(plain, first, form, synchsafeSize) : null
  const frames = synchsafe ?? listFrames(plain, first, form, plainSize)
  if (frames === null || !isPacked) return frames
  const placeOf = synchronisedPlaces(tag)
  return frames.map((frame) => {
    const start = placeOf(frame.start)
    return { ...frame, start, length: placeOf(frame.start + frame.length) - start }
  })
}

/** True for a zero that was inserted behind 0xFF. */
function isInserted(tag: Buffer, at: number): boolean {
  return at > 10 && tag[at] === 0 && tag[at - 1] === 0xff
}

/**
 * Tells where in a tag a byte lies, by its number without inserted zeros. Ask for rising numbers: a list of all places would
 * take eight times the size of the tag.
 */
function synchronisedPlaces(tag: Buffer): (number: number) => number {
  let [at, plain] = [0, 0]
  return (number) => {
    while (at < tag.length && (plain < number || isInserted(tag, at))) plain += isInserted(tag, at++) ? 0 : 1
    return at
  }
}

/** The offset behind the extended header; null if it cannot stay as it is. */
function afterExtended(tag: Buffer, version: number): number | null {
  if (version === 2 || tag.length < 20) return null
  const hasCrc = version === 3 ? ((tag[14] ?? 0) & CRC_23) !== 0 : ((tag[15] ?? 0) & CRC_24) !== 0
  const sizeBytes = tag.subarray(10, 14)
  const size = version === 3 ? 4 + plainSize(sizeBytes) : synchsafeSize(sizeBytes)
  return hasCrc || size === null || 10 + size > tag.length ? null : 10 + size
}

function listFrames(
  tag: Buffer,
  first: number,
  form: TagForm,
  sizeOf: (bytes: Buffer) => number | null,
): readonly Id3Frame[] | null {
  const [idBytes, headBytes] = form.version === 2 ? [3, 6] : [4, 10]
  const frames: Id3Frame[] = []
  for (let at = first; at + headBytes <= tag.length && tag[at] !== 0; ) {
    const id = tag.toString('latin1', at, at + idBytes)
    const size = sizeOf(tag.subarray(at + idBytes, at + 2 * idBytes))
    if (!/^[A-Z0-9]+$/.test(id) || size === null || at + headBytes + size > tag.length) return null
    const length = headBytes + size
    const flags = form.version === 2 ? 0 : (tag[at + 9] ?? 0)
    frames.push({ id, start: at, length, body: contentOf(tag.subarray(at + headBytes, at + length), form, flags) })
    // Frames may be empty, and a tag of nothing else would fill the memory.
    if (frames.length > MAX_STRUCTURES) return null
    at += length
  }
  return frames
}

/** The content of a frame, behind the fields that its flags announce; empty if it is compressed or encrypted. */
function contentOf(body: Buffer, { version, isUnsynchronised }: TagForm, flags: number): Buffer {
  const has = (flag: number) => (flags & flag) !== 0
  if (version < 4) return has(0xc0) ? Buffer.alloc(0) : body.subarray(has(0x20) ? 1 : 0)
  if (has(0x0c)) return Buffer.alloc(0)
  const content = body.subarray((has(0x40) ? 1 : 0) + (has(0x01) ? 4 : 0))
  return has(0x02) || isUnsynchronised ? synchronised(content) : content
}

function synchronised(bytes: Buffer): Buffer {
  return Buffer.from(bytes.filter((byte, at) => at === 0 || byte !== 0 || bytes[at - 1] !== 0xff))
}

function plainSize(bytes: Buffer): number {
  return bytes.readUIntBE(0, bytes.length)
}

function synchsafeSize(bytes: Buffer): number | null {
  return bytes.some((byte) => byte > 0x7f) ? null : bytes.reduce((sum, byte) => sum * 128 + byte, 0)
}
