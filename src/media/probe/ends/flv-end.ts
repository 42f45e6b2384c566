import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'

/** The metadata are the first tag. */
const METADATA_BYTES = 4096
const NAME = 'filesize'
const TAG_HEAD_BYTES = 11
/** Kinds of tags: sound, picture, script. */
const KINDS: ReadonlySet<number> = new Set([8, 9, 18])

/**
 * Bytes that are missing at the end of an FLV file. Its metadata may state a size, but a recording of a stream has that of
 * another file. So the file must also end in the middle of a tag. A recording that a crash ended states no size and is whole.
 */
export async function missingFlvBytes(file: FileHandle, sizeBytes: number): Promise<number> {
  const stated = statedSize(await readAt(file, 0, METADATA_BYTES))
  return stated <= sizeBytes || (await endsWithTag(file, sizeBytes)) ? 0 : stated - sizeBytes
}

/** The number `filesize` of onMetaData (AMF0): the name, the mark 0, a double. Programs write `fileSize` too. */
function statedSize(head: Buffer): number {
  const at = head.toString('latin1').search(/filesize/i) + NAME.length
  if (at < NAME.length || at + 9 > head.length || head[at] !== 0) return 0
  const size = head.readDoubleBE(at + 1)
  return Number.isSafeInteger(size) ? size : 0
}

/** The size of each tag follows it. */
async function endsWithTag(file: FileHandle, sizeBytes: number): Promise<boolean> {
  const length = (await readAt(file, sizeBytes - 4, 4)).readUInt32BE(0)
  if (length < TAG_HEAD_BYTES || length + 4 > sizeBytes) return false
  const head = await readAt(file, sizeBytes - 4 - length, 4)
  return KINDS.has(head.readUInt8(0) & 0x1f) && head.readUIntBE(1, 3) === length - TAG_HEAD_BYTES
}
