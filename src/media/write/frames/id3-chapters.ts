/** A name, an end of text, and two times stand before the offsets of a chapter, each of four bytes. */
const TIMES_BYTES = 8
const OFFSETS_BYTES = 8

/** The number that stands for no offset (ID3v2 Chapter Frame Addendum, section 3.1). */
export const NO_OFFSETS: Buffer = Buffer.alloc(OFFSETS_BYTES, 0xff)

/**
 * The place of the byte offsets in a frame `CHAP`, which count bytes of the old sound. Null if it states none, or if its
 * bytes are not those of the file.
 *
 * @param frame its bytes in the file
 * @param body its content
 */
export function chapterOffsets(frame: Buffer, body: Buffer): number | null {
  const nameEnd = body.indexOf(0)
  const bodyAt = frame.indexOf(body)
  if (nameEnd < 0 || bodyAt < 0) return null
  const at = nameEnd + 1 + TIMES_BYTES
  const offsets = body.subarray(at, at + OFFSETS_BYTES)
  // Some programs write zeros instead.
  const isUnused = offsets.equals(NO_OFFSETS) || offsets.every((byte) => byte === 0)
  return offsets.length < OFFSETS_BYTES || isUnused ? null : bodyAt + at
}
