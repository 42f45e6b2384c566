import type { FileHandle } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import type { PrecheckError } from '../../../core/errors.js'
import { refusedFile } from '../../refused-file.js'
import { nearReader } from '../near-reader.js'
import { BEGINS, readOggPage } from './ogg-page.js'

/** The first bytes of a stream tell its codec. */
const KIND_BYTES = 4
/** Many pages: hours of sound may have a million. */
const WINDOW_BYTES = 64 * 1024

interface Search {
  readonly path: string
  readonly file: FileHandle
  readonly signal: AbortSignal | undefined
}

/**
 * The refusal of an Ogg that is joined from parts with other streams, as by `cat`. ffmpeg ends after the first part. It
 * continues only if each part holds one stream of the same codec. Undefined for any other Ogg.
 */
export async function unreadParts({ path, file, signal }: Search): Promise<PrecheckError | undefined> {
  if (!(await hasOtherPart(file, signal))) return undefined
  return refusedFile(-2, 'ERR_CLOCK_JUMPS', `${path} is joined from parts that hold different streams.`, {
    input: path,
    remedies: ['Process each part separately, or remux the parts to .mkv and join them with mkvmerge first.'],
  })
}

async function hasOtherPart(file: FileHandle, signal: AbortSignal | undefined): Promise<boolean> {
  const read = nearReader(file, WINDOW_BYTES)
  const serials = new Set<number>()
  let kind = ''
  let isFirst = true
  let hasContent = false
  for (let page = await readOggPage(read, 0); page; page = await readOggPage(read, page.end)) {
    throwIfAborted(signal)
    if ((page.flags & BEGINS) === 0) hasContent = true
    else if (!serials.has(page.serial)) {
      const own = (await read(page.start + page.headLength, KIND_BYTES)).toString('latin1')
      if (hasContent && (serials.size !== 1 || own !== kind)) return true
      if (!hasContent && !isFirst) return true
      if (hasContent) {
        serials.clear()
        isFirst = false
        hasContent = false
      }
      serials.add(page.serial)
      kind = own
    }
  }
  return false
}
