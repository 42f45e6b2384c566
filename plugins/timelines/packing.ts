import { open, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readZipDirectory } from './bundles/zip-directory.js'
import { entryContent } from './bundles/zip-entry.js'
import { NoTimelineFile, TimelineSyntaxError } from './timeline-error.js'

/** A person does not cut a larger timeline. */
const MOST_BYTES = 256 * 1024 ** 2

/** Projects shrink to a seventieth if they hold little but effects. Deflate cannot exceed 1,032. */
const MOST_GROWTH = 300
const USUAL_BYTES = 64 * 1024

/** Elements of a small file are few enough for any memory. */
const FEW_ELEMENTS = 250_000

interface Elements {
  /** The bytes with which one begins. */
  readonly marks: ReadonlySet<number>
  /** Limit for each packed byte. */
  readonly perByte: number
}

/** A project has one for each packed byte, and up to three if it holds little but effects. */
const XML: Elements = { marks: new Set(Buffer.from('<')), perByte: 6 }
/** Effects without line breaks have eight values for each packed byte. A value needs less memory. */
const JSON_TEXT: Elements = { marks: new Set(Buffer.from('{[,')), perByte: 24 }

/** Name of the timeline in an OTIO bundle. */
export const OTIO_TEXT = 'content.otio'

/**
 * The bytes of a timeline's text, unpacked.
 *
 * @param path of the file that holds the text
 * @throws {TimelineSyntaxError} if it is damaged or too large
 */
export async function timelineBytes(path: string, extension: string): Promise<Buffer> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new TimelineSyntaxError(`it is a folder without ${basename(path)}`, { cause })
  })
  // A bundle may hold a link to a device, which never ends, or a pipe, which holds up a thread.
  if (!found.isFile()) throw new NoTimelineFile(`${basename(path)} is not a file`)
  if (extension === '.otioz') return archivedText(path)
  if (found.size > MOST_BYTES) throw tooLarge()
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
  const most = Math.min(MOST_BYTES, (bytes.length + USUAL_BYTES) * MOST_GROWTH)
  return requireFew(inflated(bytes, most), bytes.length, XML)
}

function inflated(bytes: Buffer, maxOutputLength: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength })
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
  return requireFew(Buffer.concat(await (await entryContent(file, entry)).toArray()), entry.compressedBytes, JSON_TEXT)
}

/** Refuses a text of so many elements that only an attack packs it so small. Each takes some hundred bytes of memory. */
function requireFew(text: Buffer, packedBytes: number, { marks, perByte }: Elements): Buffer {
  let left = FEW_ELEMENTS + perByte * packedBytes
  for (const byte of text) if (marks.has(byte)) left -= 1
  if (left < 0) throw new TimelineSyntaxError('it unpacks to more elements than a timeline of its size holds')
  return text
}

function tooLarge(): TimelineSyntaxError {
  return new TimelineSyntaxError('it is larger than any timeline')
}
