import { open, readFile, stat } from 'node:fs/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readZipDirectory } from './bundles/zip-directory.js'
import { entryContent } from './bundles/zip-entry.js'
import { TimelineSyntaxError } from './timeline-error.js'

/** A person does not cut a larger timeline. */
const MOST_BYTES = 256 * 1024 ** 2

/** Name of the timeline in an OTIO bundle. */
export const OTIO_TEXT = 'content.otio'

/**
 * The bytes of a timeline's text, unpacked.
 *
 * @param path of the file that holds the text
 * @throws {TimelineSyntaxError} if it is damaged or too large
 */
export async function timelineBytes(path: string, extension: string): Promise<Buffer> {
  if (extension === '.otioz') return archivedText(path)
  if ((await stat(path)).size > MOST_BYTES) throw tooLarge()
  const bytes = await readFile(path)
  return extension === '.prproj' ? unzipped(bytes) : bytes
}

/** Inverse of {@link timelineBytes} for a timeline that is one file. */
export function packedBytes(bytes: Buffer, extension: string): Buffer {
  return extension === '.prproj' ? gzipSync(bytes) : bytes
}

/** Premiere also opens a project that is plain XML. */
function unzipped(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_BYTES })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge()
    throw new TimelineSyntaxError('it is damaged: it does not unzip', { cause })
  }
}

async function archivedText(path: string): Promise<Buffer> {
  await using file = await open(path, 'r')
  const { entries } = await readZipDirectory(file)
  const entry = entries.find(({ name }) => name === OTIO_TEXT)
  if (!entry) throw new TimelineSyntaxError(`the archive holds no ${OTIO_TEXT}`)
  if (entry.sizeBytes > MOST_BYTES) throw tooLarge()
  return Buffer.concat(await (await entryContent(file, entry)).toArray())
}

function tooLarge(): TimelineSyntaxError {
  return new TimelineSyntaxError('it is larger than any timeline')
}
