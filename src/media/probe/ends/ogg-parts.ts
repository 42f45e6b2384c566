import type { FileHandle } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import { PrecheckError } from '../../../core/errors.js'
import { nearReader } from '../near-reader.js'

const BEGINS = 2
const HEAD_BYTES = 27
const MOST_SEGMENTS = 255
/** The first bytes of a stream tell its codec. */
const KIND_BYTES = 4
/** Many pages: hours of sound may have a million. */
const WINDOW_BYTES = 64 * 1024

interface Extent {
  readonly sizeBytes: number
  readonly signal: AbortSignal | undefined
}

/**
 * The refusal of an Ogg that is joined from parts with other streams, as by `cat`. ffmpeg ends after the first part. It
 * continues only if each part holds one stream of the same codec. Undefined for any other Ogg.
 */
export async function unreadParts(path: string, file: FileHandle, extent: Extent): Promise<PrecheckError | undefined> {
  if (!(await hasOtherPart(file, extent))) return undefined
  return new PrecheckError('ERR_CLOCK_JUMPS', `${path} is joined from parts that hold different streams.`, {
    input: path,
    errorCode: -2,
    errorName: 'CorruptedFile',
    remedies: ['Process each part separately, or remux the parts to .mkv and join them with mkvmerge first.'],
  })
}

async function hasOtherPart(file: FileHandle, { sizeBytes, signal }: Extent): Promise<boolean> {
  const read = nearReader(file, WINDOW_BYTES)
  const serials = new Set<number>()
  let kind = ''
  let isFirst = true
  let hasContent = false
  for (let at = 0; at + HEAD_BYTES <= sizeBytes; ) {
    throwIfAborted(signal)
    const page = await read(at, HEAD_BYTES + MOST_SEGMENTS + KIND_BYTES)
    if (page.toString('latin1', 0, 4) !== 'OggS') return false
    const bodyAt = HEAD_BYTES + (page[26] ?? 0)
    const serial = page.readUInt32LE(14)
    if (((page[5] ?? 0) & BEGINS) === 0) hasContent = true
    else if (!serials.has(serial)) {
      const own = page.toString('latin1', bodyAt, bodyAt + KIND_BYTES)
      if (hasContent && (serials.size !== 1 || own !== kind)) return true
      if (!hasContent && !isFirst) return true
      if (hasContent) {
        serials.clear()
        isFirst = false
        hasContent = false
      }
      serials.add(serial)
      kind = own
    }
    at += page.subarray(HEAD_BYTES, bodyAt).reduce((sum, length) => sum + length, bodyAt)
  }
  return false
}
