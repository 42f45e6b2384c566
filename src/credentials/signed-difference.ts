import { type FileHandle, open } from 'node:fs/promises'
import { throwIfAborted } from '../core/abort.js'
import { type ByteRange, readAt } from '../core/read-at.js'
import { CREDENTIALS_BOX, id3Frames, id3Length, isoBoxes } from '../media/index.js'

const BLOCK_BYTES = 1024 ** 2
/** Boxes with offsets into the file, which move behind the manifest. */
const OFFSETS = /(^|\/)(stco|co64|saio|iloc|tfhd|tfra|sidx|mfro)$/
/** Frames with text, whose encoding may change. Verification compares them as tags. */
const TEXT = /^(T|W|COMM|USLT|APIC|GEOB)/

/**
 * Proves that a signed file is the unsigned one and a manifest, and nothing else changed but sizes and offsets.
 *
 * @param container of both, one into which a manifest can be embedded
 * @returns a difference, or null
 */
export async function differenceOfSigned(
  before: string,
  after: string,
  container: string,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  await using old = await open(before, 'r')
  await using signed = await open(after, 'r')
  const files = { old, signed, signal }
  if (container === 'wav') return await compareWave(files)
  return await (isTagged(container) ? compareTagged(files) : compareIso(files))
}

/** True for a container whose manifest lies in an ID3 tag. */
export function isTagged(container: string): boolean {
  return container === 'mp3' || container === 'flac'
}

interface Files {
  readonly old: FileHandle
  readonly signed: FileHandle
  readonly signal: AbortSignal | undefined
}

async function compareWave(files: Files): Promise<string | null> {
  const { size } = await files.old.stat()
  const isSame = await sameBytes(files, { start: 0, length: size }, 0, [{ start: 4, length: 4 }])
  return isSame ? null : 'a chunk'
}

async function compareIso(files: Files): Promise<string | null> {
  const { old, signed } = files
  const [{ size }, { size: signedSize }] = await Promise.all([old.stat(), signed.stat()])
  const [boxes, signedBoxes] = await Promise.all([isoBoxes(old, size), isoBoxes(signed, signedSize)])
  const added = signedSize - size
  const manifest = signedBoxes?.find(({ path, length }) => path === CREDENTIALS_BOX && length === added)
  if (!boxes || !manifest) return 'a box'
  const mayDiffer = boxes.filter(({ path }) => OFFSETS.test(path))
  const parts = [
    { from: { start: 0, length: manifest.start }, shift: 0 },
    { from: { start: manifest.start, length: size - manifest.start }, shift: added },
  ]
  for (const { from, shift } of parts) {
    if (!(await sameBytes(files, from, shift, mayDiffer))) return 'a box'
  }
  return null
}

async function compareTagged(files: Files): Promise<string | null> {
  const { old, signed } = files
  const [tag, signedTag] = await Promise.all([readTag(old), readTag(signed)])
  const [frames, signedFrames] = [tag.length > 0 ? id3Frames(tag) : [], id3Frames(signedTag)]
  const isSameTag =
    frames?.length === signedFrames?.length &&
    frames?.every(({ id, body }) => signedFrames?.some((is) => is.id === id && (TEXT.test(id) || is.body.equals(body))))
  if (!isSameTag) return 'a frame of its ID3 tag'
  const { size } = await old.stat()
  const shift = signedTag.length - tag.length
  const isSame = await sameBytes(files, { start: tag.length, length: size - tag.length }, shift, [])
  return isSame ? null : 'its sound'
}

async function readTag(file: FileHandle): Promise<Buffer> {
  return readAt(file, 0, id3Length(await readAt(file, 0, 10), 'ID3') ?? 0)
}

async function sameBytes(
  { old, signed, signal }: Files,
  { start, length }: ByteRange,
  shift: number,
  mayDiffer: readonly ByteRange[],
): Promise<boolean> {
  for (let at = start; at < start + length; at += BLOCK_BYTES) {
    throwIfAborted(signal)
    const size = Math.min(BLOCK_BYTES, start + length - at)
    const blocks = await Promise.all([readAt(old, at, size), readAt(signed, at + shift, size)])
    const [was, is] = blocks
    if (was.equals(is)) continue
    for (const range of mayDiffer) {
      const [from, to] = [range.start - at, range.start + range.length - at]
      if (to > 0 && from < size) for (const block of blocks) block.fill(0, Math.max(0, from), Math.min(size, to))
    }
    if (!was.equals(is)) return false
  }
  return true
}
